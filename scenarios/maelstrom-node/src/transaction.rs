//! Transactions and logs: what requests do to all that is stored, and transactions that change one key after the other.

use super::{Context, PATIENCE};
use fozzy_maelstrom::{ProtocolError, ProtocolMessage, Value, error_code, json};
use serde_json::Map;

/// Does what a request says to all that is stored; the reply.
pub(crate) fn apply(body: &Value, stored: &mut Value) -> Value {
    match body["type"].as_str().unwrap_or_default() {
        "txn" => json!({"type": "txn_ok", "txn": execute(&body["txn"], stored)}),
        "send" => {
            let log = &mut stored[body["key"].as_str().unwrap_or_default()];
            let mut messages = log.as_array().cloned().unwrap_or_default();
            messages.push(body["msg"].clone());
            *log = messages.into();
            json!({"type": "send_ok", "offset": log.as_array().map_or(0, Vec::len) - 1})
        }
        "poll" => {
            let from = |(key, offset): (&String, &Value)| {
                let log = stored[key].as_array().cloned().unwrap_or_default();
                let numbered = log.into_iter().enumerate().skip(offset.as_u64().unwrap_or_default() as usize);
                (key.clone(), numbered.map(|(offset, message)| json!([offset, message])).collect())
            };
            let logs: Map<String, Value> = body["offsets"].as_object().into_iter().flatten().map(from).collect();
            json!({"type": "poll_ok", "msgs": logs})
        }
        "commit_offsets" => {
            for (key, offset) in body["offsets"].as_object().into_iter().flatten() {
                let committed = &mut stored[format!("committed {key}")];
                *committed = json!(committed.as_u64().max(offset.as_u64()));
            }
            json!({"type": "commit_offsets_ok"})
        }
        _ => {
            let committed = |key: &str| Some((key.to_owned(), stored.get(format!("committed {key}"))?.clone()));
            let keys = body["keys"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let offsets: Map<String, Value> = keys.filter_map(committed).collect();
            json!({"type": "list_committed_offsets_ok", "offsets": offsets})
        }
    }
}

/// Does what a transaction says to all keys; its result.
fn execute(transaction: &Value, keys: &mut Value) -> Value {
    let each = |operation: &Value| {
        let (key, value) = (operation[1].to_string(), &operation[2]);
        match operation[0].as_str() {
            Some("append") => {
                let mut list = keys[&key].as_array().cloned().unwrap_or_default();
                list.push(value.clone());
                keys[&key] = list.into();
            }
            Some("w") => keys[&key] = value.clone(),
            _ => return json!(["r", operation[1], keys.get(&key).cloned().unwrap_or_default()]),
        }
        operation.clone()
    };
    transaction.as_array().into_iter().flatten().map(each).collect()
}

/// A transaction whose operations are done one after the other.
struct KeywiseTransaction {
    client: ProtocolMessage,
    operations: Vec<Value>,
    done: Vec<Value>,
}

/// Does one operation after the other, each to its own key: what is written is seen before the transaction has ended, and stays when the
/// transaction is given up because another one was faster.
pub(crate) fn execute_keywise(context: &mut Context, message: &ProtocolMessage) {
    let operations = message.body["txn"].as_array().cloned().unwrap_or_default();
    go_on(context, KeywiseTransaction { client: message.clone(), operations, done: Vec::new() });
}

fn go_on(context: &mut Context, transaction: KeywiseTransaction) {
    let Some(operation) = transaction.operations.get(transaction.done.len()) else {
        let reply = json!({"type": "txn_ok", "txn": transaction.done});
        return context.reply(&transaction.client, reply);
    };
    let (operation, key) = (operation.clone(), format!("key {}", operation[1]));
    context.request("lin-kv", json!({"type": "read", "key": key}), PATIENCE, move |context, _, answer| {
        let before = match answer {
            Ok(body) => body["value"].clone(),
            Err(error) if error.code == error_code::KEY_DOES_NOT_EXIST => Value::Null,
            Err(error) => return context.fail(&transaction.client, &error),
        };
        write(context, transaction, operation, key, before);
    });
}

fn write(context: &mut Context, mut transaction: KeywiseTransaction, operation: Value, key: String, before: Value) {
    let after = match operation[0].as_str() {
        Some("append") => {
            let mut list = before.as_array().cloned().unwrap_or_default();
            list.push(operation[2].clone());
            list.into()
        }
        Some("w") => operation[2].clone(),
        _ => {
            transaction.done.push(json!(["r", operation[1], before]));
            return go_on(context, transaction);
        }
    };
    let swap = json!({"type": "cas", "key": key, "from": before, "to": after, "create_if_not_exists": true});
    context.request("lin-kv", swap, PATIENCE, move |context, _, answer| match answer {
        Ok(_) => {
            transaction.done.push(operation);
            go_on(context, transaction);
        }
        Err(error) if error.code == error_code::TIMEOUT => context.fail(&transaction.client, &error),
        Err(_) => {
            let error = ProtocolError::new(error_code::TXN_CONFLICT, "another transaction was faster");
            context.fail(&transaction.client, &error);
        }
    });
}
