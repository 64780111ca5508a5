/* The settings of the kernel for the board MPS2-AN386: a Cortex-M4 with a floating-point unit at 25 MHz. No heap. */
#ifndef FREERTOS_CONFIG_H
#define FREERTOS_CONFIG_H

#include "semihosting.h"

#define configCPU_CLOCK_HZ 25000000UL
#define configTICK_RATE_HZ 1000
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS
#define configMAX_PRIORITIES 3
#define configMINIMAL_STACK_SIZE 128
#define configUSE_PREEMPTION 1
#define configUSE_IDLE_HOOK 0
#define configUSE_TICK_HOOK 0
#define configSUPPORT_STATIC_ALLOCATION 1
#define configSUPPORT_DYNAMIC_ALLOCATION 0
#define configKERNEL_PROVIDED_STATIC_MEMORY 1
#define configCHECK_FOR_STACK_OVERFLOW 2
#define configPRIO_BITS 3
#define configKERNEL_INTERRUPT_PRIORITY (7 << (8 - configPRIO_BITS))
#define configMAX_SYSCALL_INTERRUPT_PRIORITY (5 << (8 - configPRIO_BITS))
#define configASSERT(condition) do { if (!(condition)) stop(98); } while (0)

#define INCLUDE_vTaskDelay 1
#define INCLUDE_vTaskSuspend 1

/* The handlers under the names of the vector table in start.c. */
#define vPortSVCHandler SVC_Handler
#define xPortPendSVHandler PendSV_Handler
#define xPortSysTickHandler SysTick_Handler

#endif
