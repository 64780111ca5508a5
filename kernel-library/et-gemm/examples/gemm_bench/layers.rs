//! Shapes of the measured layers.

use et_gemm::Shape;

/// A layer.
pub struct Layer {
    pub name: String,
    pub shape: Shape,
}

/// Convolution and linear layers of four vision models.
pub fn models() -> Vec<Layer> {
    let convolution = Shape::convolution;
    let product = Shape::product;
    let layers = [
        ("resnet50 conv1 7x7/2", convolution([224, 224], 3, 64, 7, 2, 3)),
        ("resnet50 56 64-64 1x1", convolution([56, 56], 64, 64, 1, 1, 0)),
        ("resnet50 56 64-64 3x3", convolution([56, 56], 64, 64, 3, 1, 1)),
        ("resnet50 56 64-256", convolution([56, 56], 64, 256, 1, 1, 0)),
        ("resnet50 56 256-64", convolution([56, 56], 256, 64, 1, 1, 0)),
        ("resnet50 56 256-128", convolution([56, 56], 256, 128, 1, 1, 0)),
        ("resnet50 56 128 3x3/2", convolution([56, 56], 128, 128, 3, 2, 1)),
        ("resnet50 28 128 3x3", convolution([28, 28], 128, 128, 3, 1, 1)),
        ("resnet50 28 128-512", convolution([28, 28], 128, 512, 1, 1, 0)),
        ("resnet50 28 512-128", convolution([28, 28], 512, 128, 1, 1, 0)),
        ("resnet50 14 256 3x3", convolution([14, 14], 256, 256, 3, 1, 1)),
        ("resnet50 14 256-1024", convolution([14, 14], 256, 1024, 1, 1, 0)),
        ("resnet50 14 1024-256", convolution([14, 14], 1024, 256, 1, 1, 0)),
        ("resnet50 7 512 3x3", convolution([7, 7], 512, 512, 3, 1, 1)),
        ("resnet50 7 512-2048", convolution([7, 7], 512, 2048, 1, 1, 0)),
        ("resnet50 7 2048-512", convolution([7, 7], 2048, 512, 1, 1, 0)),
        ("resnet50 fc", product(1, 2048, 1000)),
        ("vit patch 16x16/16", convolution([224, 224], 3, 768, 16, 16, 0)),
        ("vit 197 768-768", product(197, 768, 768)),
        ("vit 197 768-2304", product(197, 768, 2304)),
        ("vit 197 768-3072", product(197, 768, 3072)),
        ("vit 197 3072-768", product(197, 3072, 768)),
        ("mv3 first 3x3/2", convolution([224, 224], 3, 16, 3, 2, 1)),
        ("mv3 56 16-72", product(3136, 16, 72)),
        ("mv3 28 72-24", product(784, 72, 24)),
        ("mv3 28 24-88", product(784, 24, 88)),
        ("mv3 14 96-40", product(196, 96, 40)),
        ("mv3 14 40-240", product(196, 40, 240)),
        ("mv3 14 240-40", product(196, 240, 40)),
        ("mv3 14 48-144", product(196, 48, 144)),
        ("mv3 7 96-576", product(49, 96, 576)),
        ("mv3 7 576-96", product(49, 576, 96)),
        ("mv3 fc 576-1024", product(1, 576, 1024)),
        ("swin patch 4x4/4", convolution([224, 224], 3, 96, 4, 4, 0)),
        ("swin 3136 96-288", product(3136, 96, 288)),
        ("swin 3136 96-96", product(3136, 96, 96)),
        ("swin 3136 96-384", product(3136, 96, 384)),
        ("swin 3136 384-96", product(3136, 384, 96)),
        ("swin 784 384-192", product(784, 384, 192)),
        ("swin 784 192-768", product(784, 192, 768)),
        ("swin 784 768-192", product(784, 768, 192)),
        ("swin 196 384-1152", product(196, 384, 1152)),
        ("swin 196 384-1536", product(196, 384, 1536)),
        ("swin 196 1536-384", product(196, 1536, 384)),
        ("swin 49 768-3072", product(49, 768, 3072)),
        ("swin 49 3072-768", product(49, 3072, 768)),
    ];
    layers.map(|(name, shape)| Layer { name: name.to_owned(), shape }).into()
}

/// Linear layers of language models: M, K, N.
pub fn linear() -> Vec<Layer> {
    let sizes = [[1, 4096, 4096], [1, 4096, 14336], [256, 1024, 1024], [256, 2048, 2048]];
    sizes.map(|[m, k, n]| Layer { name: format!("{m} {k}-{n}"), shape: Shape::product(m, k, n) }).into()
}

/// The two GEMMs of an attention head.
pub fn attention() -> Vec<Layer> {
    let layers = [("queries x keys", Shape::product(197, 64, 197)), ("scores x values", Shape::product(197, 197, 64))];
    layers.map(|(name, shape)| Layer { name: name.to_owned(), shape }).into()
}
