import CEtbuild
import Foundation

/// Updates over the air of a deployed version: a program file, or the folder of a version. Models that are loaded stay what they are: load them
/// again after a call.
public enum Updates {
    /// Brings the new version to the place of the deployed version: `update` is a file of `etbuild delta`, with the signature that the recipe's
    /// key demands. After a failure the deployed version is unchanged, and after a power cut the old or the new version is there. The
    /// earlier version is kept.
    public static func apply(_ update: URL, to deployed: URL) throws {
        let texts = Texts()
        let (deployed, update) = (try texts.copy(deployed.path), try texts.copy(update.path))
        try withExtendedLifetime(texts) { try EtbuildError.check(et_update_apply(deployed, update)) }
    }

    /// Completes the switch of several files that a power cut stopped, if there is one. To be called before the first load.
    public static func recover(_ deployed: URL) throws {
        try call(et_update_recover, deployed)
    }

    /// Returns to the version before the last update.
    public static func rollback(_ deployed: URL) throws {
        try call(et_update_rollback, deployed)
    }

    /// Removes the version before the last update: there is no way back.
    public static func confirm(_ deployed: URL) throws {
        try call(et_update_confirm, deployed)
    }

    private static func call(_ function: (UnsafePointer<CChar>?) -> Int32, _ deployed: URL) throws {
        let texts = Texts()
        let path = try texts.copy(deployed.path)
        try withExtendedLifetime(texts) { try EtbuildError.check(function(path)) }
    }
}
