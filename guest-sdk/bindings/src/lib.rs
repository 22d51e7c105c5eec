//! Makes the bindings of the guest SDK from `wit/`, one file for each world; see README.md.

pub mod tools {
    wit_bindgen::generate!({ path: "../../wit", inline: "package fozzy:sdk; world tools { import fozzy:choices/draws@0.1.0; import fozzy:events/journal@0.1.0; import fozzy:faults/points@0.1.0; import fozzy:files/power@0.1.0; import fozzy:files/snapshots@0.1.0; import fozzy:history/operations@0.1.0; import fozzy:http/rules@0.1.0; import fozzy:memory/allocations@0.1.0; import fozzy:process/rules@0.1.0; import fozzy:process/run@0.1.0; import fozzy:properties/assertions@0.1.0; import fozzy:time/control@0.1.0; }", generate_all, runtime_path: "::wit_bindgen::rt" });
}
pub mod membership {
    wit_bindgen::generate!({ path: "../../wit", inline: "package fozzy:sdk; world membership { import fozzy:faults/membership@0.1.0; }", generate_all, runtime_path: "::wit_bindgen::rt" });
}
pub mod net {
    wit_bindgen::generate!({ path: "../../wit", inline: "package fozzy:sdk; world net { import wasi:clocks/monotonic-clock@0.2.12; import wasi:io/poll@0.2.12; import wasi:sockets/instance-network@0.2.12; import wasi:sockets/ip-name-lookup@0.2.12; import wasi:sockets/tcp@0.2.12; import wasi:sockets/tcp-create-socket@0.2.12; }", generate_all, runtime_path: "::wit_bindgen::rt" });
}
pub mod target {
    wit_bindgen::generate!({ path: "../../wit", inline: "package fozzy:sdk; world target { import fozzy:target/control@0.1.0; }", generate_all, runtime_path: "::wit_bindgen::rt" });
}
pub mod stateful {
    wit_bindgen::generate!({ path: "../../wit", inline: "package fozzy:sdk; world stateful { export fozzy:scenario/stateful@0.1.0; }", generate_all, pub_export_macro: true, default_bindings_module: "::fozzy_sdk::bindings::stateful", export_macro_name: "export_stateful", runtime_path: "::fozzy_sdk::bindings::rt" });
}
pub mod fuzz {
    wit_bindgen::generate!({ path: "../../wit", inline: "package fozzy:sdk; world fuzz { export fozzy:scenario/fuzz@0.1.0; }", generate_all, pub_export_macro: true, default_bindings_module: "::fozzy_sdk::bindings::fuzz", export_macro_name: "export_fuzz" , runtime_path: "::fozzy_sdk::bindings::rt"});
}
pub mod property {
    wit_bindgen::generate!({ path: "../../wit", inline: "package fozzy:sdk; world property { export fozzy:scenario/property@0.1.0; }", generate_all, pub_export_macro: true, default_bindings_module: "::fozzy_sdk::bindings::property", export_macro_name: "export_property" , runtime_path: "::fozzy_sdk::bindings::rt"});
}
pub mod model {
    wit_bindgen::generate!({ path: "../../wit", inline: "package fozzy:sdk; world model { export fozzy:model/sequential@0.1.0; }", generate_all, pub_export_macro: true, default_bindings_module: "::fozzy_sdk::bindings::model", export_macro_name: "export_model", runtime_path: "::fozzy_sdk::bindings::rt" });
}
