//! Clients of the replicated store: what they ask, of whom, and what must come in the end.

use fozzy_sdk::cluster::{
    ClientOperation, Completion, KeyDistribution, KeyPool, MembershipChange, Workload, generator as ops, nodes,
};
use fozzy_sdk::task::net::TcpStream;
use fozzy_sdk::task::sleep;
use std::cell::RefCell;
use std::io::Result;
use std::rc::Rc;
use std::time::Duration;

/// Any value is written to a key once, so that a read says which write it has seen.
#[derive(Clone, Debug)]
enum Op {
    Get(i64),
    Put(i64, u32),
}

impl ClientOperation for Op {
    fn name(&self) -> String {
        match self {
            Op::Get(key) => format!("get k{key}"),
            Op::Put(key, _) => format!("put k{key}"),
        }
    }

    fn input(&self) -> String {
        match self {
            Op::Get(_) => String::new(),
            Op::Put(_, value) => value.to_string(),
        }
    }
}

async fn ask(node: &str, request: &str) -> Result<String> {
    let mut node = TcpStream::connect(&format!("{node}:7000")).await?;
    node.write_all(format!("{request}\n").as_bytes()).await?;
    node.read_line().await
}

/// Each client asks a node of its own, and goes where it is sent.
async fn operate(thread: usize, op: Op) -> Result<Completion> {
    let (nodes, request) = match op {
        Op::Get(key) => (nodes(), format!("get k{key}")),
        Op::Put(key, value) => (nodes(), format!("put k{key} {value}")),
    };
    let mut answer = ask(&nodes[thread % nodes.len()], &request).await?;
    if let Some(leader) = answer.strip_prefix("moved ") {
        answer = ask(&leader.to_owned(), &request).await?;
    }
    let (how, what) = answer.split_once(' ').unwrap_or((&answer, ""));
    Ok(match how {
        "ok" => Completion::Ok(what.to_owned()),
        "fail" => Completion::Fail(what.to_owned()),
        _ => Completion::Info(what.to_owned()),
    })
}

/// Asks the first node, which leads, always. A published Raft has no such requests, and its plan no such nemesis.
async fn change_members(change: MembershipChange) -> std::result::Result<Vec<String>, String> {
    let request = match change {
        MembershipChange::Add(node) => format!("join {node}"),
        MembershipChange::Remove(node) => format!("leave {node}"),
    };
    let answer = ask(&nodes()[0], &request).await.map_err(|error| error.to_string())?;
    let members = answer.strip_prefix("ok ").ok_or_else(|| answer.clone())?;
    Ok(members.split(',').map(str::to_owned).collect())
}

fn workload() -> Workload {
    let pool = Rc::new(RefCell::new(KeyPool::new(2, KeyDistribution::Uniform, 12)));
    let reads = Rc::clone(&pool);
    let reads = ops::of(move || Op::Get(reads.borrow().read()));
    let writes = ops::of(move || {
        let (key, value) = pool.borrow_mut().write();
        Op::Put(key, value)
    });
    Workload::new("store-clients")
        .rate(5.0)
        .timeout(Duration::from_secs(2))
        .recovery(Duration::from_secs(20))
        .first("the leader answers", || async {
            // Faults strike from the beginning.
            for _ in 0..100 {
                if ask(&nodes()[0], "get k0").await.is_ok() {
                    return Ok(());
                }
                sleep(Duration::from_millis(100)).await;
            }
            Err("not within 100 requests".to_owned())
        })
        .parallel("clients", 4, ops::mix(vec![(1, reads), (1, writes)]), |process, op| async move {
            operate(process.thread, op).await.into()
        })
        .members(2, change_members)
        .eventually("the store takes writes again", || async {
            match ask(&nodes()[0], "put last 1").await {
                Ok(answer) if answer.starts_with("ok") => Ok(()),
                Ok(answer) => Err(answer),
                Err(error) => Err(error.to_string()),
            }
        })
        .check("linearizable", "kv")
}

fozzy_sdk::cluster_workload!(workload);
