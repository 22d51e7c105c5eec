//! A node of the Maelstrom protocol: echo, identifiers, and a broadcast that says everything again until all have heard it.

use fozzy_maelstrom::{MaelstromNode, NodeContext, Value, json};
use std::time::Duration;

/// How often a node tells the others all that it knows.
const GOSSIP: Duration = Duration::from_millis(200);

/// What a node knows.
#[derive(Default)]
struct Store {
    messages: Vec<Value>,
}

impl Store {
    fn learn(&mut self, message: &Value) {
        if !self.messages.contains(message) {
            self.messages.push(message.clone());
        }
    }

    fn tell(&self, node: &mut NodeContext<Store>) {
        for other in node.others() {
            node.send(&other, &json!({"type": "gossip", "messages": self.messages}));
        }
    }
}

fn main() -> std::io::Result<()> {
    let mut node = MaelstromNode::new();
    node.on_init(|node, _| node.every(GOSSIP, |node, store: &mut Store| store.tell(node)));
    node.on("echo", |node, _, message| {
        node.reply(message, json!({"type": "echo_ok", "echo": message.body["echo"]}));
    });
    node.on("generate", |node, _, message| {
        // No client has a request of this number twice, and no two clients have one name.
        let id = format!("{}-{}-{}", node.id(), message.src, message.body["msg_id"]);
        node.reply(message, json!({"type": "generate_ok", "id": id}));
    });
    node.on("topology", |node, _, message| node.reply(message, json!({"type": "topology_ok"})));
    node.on("broadcast", |node, store, message| {
        store.learn(&message.body["message"]);
        node.reply(message, json!({"type": "broadcast_ok"}));
    });
    node.on("gossip", |_, store, message| {
        message.body["messages"].as_array().into_iter().flatten().for_each(|message| store.learn(message));
    });
    node.on("read", |node, store, message| {
        node.reply(message, json!({"type": "read_ok", "messages": store.messages}));
    });
    node.run(Store::default())
}
