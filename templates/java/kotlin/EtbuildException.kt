package etbuild

/** A failure of a model: a missing or damaged file, an input that does not fit, a text that is longer than the model's context. */
public class EtbuildException(message: String) : RuntimeException(message)
