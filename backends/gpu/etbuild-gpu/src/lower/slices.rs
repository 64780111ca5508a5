//! Which values are better stored in texels, and along which dimension.

use etbuild_backend::Call;
use etbuild_ir::{IdMap, Links, Node, ValueId};

use crate::builder::sizes_of;

/// The channel dimension of each value that products or feature maps are computed of, backwards from the last node.
pub fn wanted(links: &Links<'_>) -> IdMap<usize> {
    let mut wanted = IdMap::default();
    for node in links.graph.nodes.iter().rev() {
        let call = Call::new(links, node);
        let operator = node.operator.name();
        let (Ok(output), Some(input)) = (call.output(), node.uses().next()) else { continue };
        let last = sizes_of(links, output).len().checked_sub(1);
        match operator {
            "convolution" => {
                want(&mut wanted, output, Some(1));
                want(&mut wanted, input, Some(1));
            }
            "linear" | "mm" | "bmm" | "addmm" => {
                want(&mut wanted, output, last);
                let left = call.value(usize::from(operator == "addmm"));
                if let Ok(left) = left {
                    want(&mut wanted, left, sizes_of(links, left).len().checked_sub(1));
                }
            }
            "attend_cache" | "scaled_dot_product_attention" => {
                for id in node.uses().take(3).collect::<Vec<_>>() {
                    want(&mut wanted, id, sizes_of(links, id).len().checked_sub(1));
                }
            }
            _ => spread(links, &mut wanted, node, output),
        }
    }
    for node in &links.graph.nodes {
        follow(links, &mut wanted, node);
    }
    wanted
}

/// Results of element-wise operators on texels are in texels too.
fn follow(links: &Links<'_>, wanted: &mut IdMap<usize>, node: &Node) {
    let (Some(output), Some(input)) = (node.outputs.first(), node.uses().next()) else { return };
    if sizes_of(links, input) == sizes_of(links, *output) {
        want(wanted, *output, wanted.get(input).copied());
    }
}

/// The first want of a value counts: its last reader's.
fn want(wanted: &mut IdMap<usize>, id: ValueId, channel: Option<usize>) {
    if let (Some(channel), None) = (channel, wanted.get(id)) {
        wanted.insert(id, channel);
    }
}

/// Element-wise operators and pools read the layout that they write.
fn spread(links: &Links<'_>, wanted: &mut IdMap<usize>, node: &Node, output: ValueId) {
    let Some(channel) = wanted.get(output).copied() else { return };
    let sizes = sizes_of(links, output);
    for id in node.uses().collect::<Vec<_>>() {
        let own = sizes_of(links, id);
        if own.len() == sizes.len() && own[channel] == sizes[channel] {
            want(wanted, id, Some(channel));
        }
    }
}
