//! How a model in another format becomes a model that etbuild reads.

/// The lines of Python that write an archive.
macro_rules! export {
    ($before:literal) => {
        concat!(
            $before,
            "\n",
            "  program = torch.export.export(model.eval(), (example_input,))\n",
            "  torch.export.save(program, \"model.pt2\")",
        )
    };
}

pub(super) const EXPORT: &str = export!("export the PyTorch model that the file was made from, in Python:");

pub(super) const ONNX: &str = export!(
    "export the PyTorch model that the file was made from; where the ONNX file is all there is, the package \
     `onnx2torch` makes a module of it:\n  model = onnx2torch.convert(\"model.onnx\")"
);

pub(super) const KERAS: &str = export!(
    "a Keras 3 model is a PyTorch module where the variable KERAS_BACKEND is `torch`; in Python:\n  \
     model = keras.saving.load_model(\"model.keras\")"
);

pub(super) const WEIGHTS: &str = export!(
    "weights need the code of their model; build the model in Python, load the weights, and export:\n  \
     model.load_state_dict(torch.load(\"weights.pth\", weights_only=True))"
);

pub(super) const SAFETENSORS: &str = export!(
    "a language model is named by its folder, with `config.json` in it: `model: { checkpoint: FOLDER }`; for another \
     model, build it in Python, load the weights, and export:\n  \
     model.load_state_dict(safetensors.torch.load_file(\"model.safetensors\"))"
);

pub(super) const GGUF: &str = "the name of a model in GGUF ends with `.gguf`, and a recipe names the file as \
    `model: { checkpoint: FILE.gguf }`";

pub(super) const GGML: &str = "GGML is older than GGUF; download the model in GGUF, or the checkpoint that the file was made \
    from, and name its folder: `model: { checkpoint: FOLDER }`";

pub(super) const PROGRAM: &str = "a program file is a result and not a model: `etbuild run` runs it, `etbuild inspect` \
    shows it; deploy the model that the file was made from";

pub(super) const DATA: &str = "a data file belongs to a program file: `etbuild run FILE.pte --data FILE.ptd`";

pub(super) const TENSORS: &str =
    "tensors go in with `--inputs`; a model is a `.pt2` archive, or the folder of a checkpoint";

pub(super) const MEDIA: &str = "pictures and sounds go in with `--inputs`; a model is a `.pt2` archive, or the folder of a \
    checkpoint";

pub(super) const PICTURE: &str = "pictures go in with `--inputs`, as PNG or JPEG";

pub(super) const SOUND: &str = "sounds go in with `--inputs`, as WAV: `ffmpeg -i SOUND sound.wav`";

pub(super) const PACKED: &str = "unpack it, and name the model inside";

pub(super) const LFS: &str = "the file stands for one in Git's large file storage: `git lfs pull` fetches it";

pub(super) const HTML: &str =
    "a download gave a page instead of the file: is the address right, and are you logged in?";

pub(super) const BINARY: &str = "a binary is a result and not a model: run it with `--help`";

pub(super) const JSON: &str = "a recipe is YAML; `etbuild init MODEL` writes one";
