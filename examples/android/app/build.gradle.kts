plugins {
    id("com.android.application")
    id("org.jetbrains.kotlin.android")
}

/** What `etbuild build ... --target android-arm64 --target android-x86_64 --set library=true` wrote. */
val model = rootDir.resolve("../../out/tiny-llama")

android {
    namespace = "story"
    compileSdk = 35

    defaultConfig {
        applicationId = "etbuild.example.story"
        minSdk = 26
        targetSdk = 35
        versionCode = 1
        versionName = "1.0"
    }

    // A program file in the package is mapped where it is not compressed.
    androidResources { noCompress += "pte" }

    buildTypes {
        release {
            isMinifyEnabled = true
            proguardFiles(getDefaultProguardFile("proguard-android-optimize.txt"))
        }
    }

    compileOptions {
        sourceCompatibility = JavaVersion.VERSION_1_8
        targetCompatibility = JavaVersion.VERSION_1_8
    }
    sourceSets["main"].assets.srcDir(layout.buildDirectory.dir("model"))
}

kotlin { compilerOptions { jvmTarget = org.jetbrains.kotlin.gradle.dsl.JvmTarget.JVM_1_8 } }

val asset by tasks.registering(Copy::class) {
    from(model.resolve("android-arm64")) { include("*.pte") }
    into(layout.buildDirectory.dir("model"))
}
tasks.named("preBuild") { dependsOn(asset) }

dependencies {
    implementation(files(model.resolve("tiny-llama.aar")))
    implementation("org.jetbrains.kotlinx:kotlinx-coroutines-android:1.10.2")
}
