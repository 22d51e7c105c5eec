//! `wasi:http/types.fields`, and `http-error-code`.

use super::error::{code, header_error};
use super::{RecordedHeaders, of_kind, trap};
use crate::bindings::wasi::http::types::{self, ErrorCode, HeaderError};
use crate::bindings::{FieldsResource, IoErrorResource};
use crate::call::{GuestStop, Host, Import, misuse};
use fozzy_world::http::{FieldsError, HandleError, HttpHandle};
use fozzy_world::table::StreamFailure;
use fozzy_world::{Handle, TableError, http};
use wasmtime::Result;
use wasmtime::component::Resource;

const HTTP_ERROR_CODE: Import = Import::new("wasi:http/types.http-error-code");
const NEW: Import = Import::new("wasi:http/types.fields");
const FROM_LIST: Import = Import::new("wasi:http/types.fields.from-list");
const GET: Import = Import::new("wasi:http/types.fields.get");
const HAS: Import = Import::new("wasi:http/types.fields.has");
const SET: Import = Import::new("wasi:http/types.fields.set");
const DELETE: Import = Import::new("wasi:http/types.fields.delete");
const APPEND: Import = Import::new("wasi:http/types.fields.append");
const ENTRIES: Import = Import::new("wasi:http/types.fields.entries");
const CLONE: Import = Import::new("wasi:http/types.fields.clone");
const DROP: Import = Import::new("wasi:http/types.fields.drop");

type FieldsResult<T> = Result<std::result::Result<T, HeaderError>>;

/// What the guest hears of an error of fields; their bound is a trap.
fn answered(import: Import, error: FieldsError) -> std::result::Result<HeaderError, GuestStop> {
    header_error(error).ok_or_else(|| trap(import)(HandleError::FieldsTooLarge))
}

impl types::Host for Host {
    fn http_error_code(&mut self, error: Resource<IoErrorResource>) -> Result<Option<ErrorCode>> {
        self.call(HTTP_ERROR_CODE, error.rep(), |host| match host.node().table.get(error.rep()) {
            Ok(Handle::Error(StreamFailure::Http(error))) => Ok(Some(code(error.clone()))),
            Ok(Handle::Error(_)) => Ok(None),
            _ => Err(misuse(HTTP_ERROR_CODE)(TableError::WrongHandle)),
        })
    }
}

impl Host {
    fn change(
        &mut self,
        import: Import,
        rep: u32,
        headers: RecordedHeaders,
        change: impl FnOnce(&mut http::HeaderFields) -> std::result::Result<(), FieldsError>,
    ) -> FieldsResult<()> {
        self.call(import, (rep, headers), |host| {
            let node = host.node;
            match host.world().http_change(node, rep, change).map_err(trap(import))? {
                Ok(()) => Ok(Ok(())),
                Err(error) => answered(import, error).map(Err),
            }
        })
    }
}

impl types::HostFields for Host {
    fn new(&mut self) -> Result<Resource<FieldsResource>> {
        self.http_open(NEW, (), |_| Ok(HttpHandle::Fields(http::HeaderFields::default())))
    }

    fn from_list(&mut self, entries: Vec<(String, Vec<u8>)>) -> FieldsResult<Resource<FieldsResource>> {
        let fields = http::HeaderFields::from_list(entries.iter().cloned());
        let rep = self.call(FROM_LIST, RecordedHeaders::of(self, entries), |host| match fields {
            Ok(fields) => host.http_place(FROM_LIST, HttpHandle::Fields(fields)).map(Ok),
            Err(error) => answered(FROM_LIST, error).map(Err),
        })?;
        Ok(rep.map(Resource::new_own))
    }

    fn get(&mut self, fields: Resource<FieldsResource>, name: String) -> Result<Vec<Vec<u8>>> {
        let values = self.call(GET, (fields.rep(), &name), |host| {
            let fields = of_kind!(host.http(GET, fields.rep())?, GET, Fields);
            let values = fields.get(&name).map(|value| (name.clone(), value.to_vec())).collect();
            Ok(RecordedHeaders::of(host, values))
        })?;
        Ok(values.list.into_iter().map(|(_, value)| value).collect())
    }

    fn has(&mut self, fields: Resource<FieldsResource>, name: String) -> Result<bool> {
        self.call(
            HAS,
            (fields.rep(), &name),
            |host| Ok(of_kind!(host.http(HAS, fields.rep())?, HAS, Fields).has(&name)),
        )
    }

    fn set(&mut self, fields: Resource<FieldsResource>, name: String, values: Vec<Vec<u8>>) -> FieldsResult<()> {
        let asked = RecordedHeaders::of(self, values.iter().map(|value| (name.clone(), value.clone())).collect());
        self.change(SET, fields.rep(), asked, |fields| fields.set(&name, values))
    }

    fn delete(&mut self, fields: Resource<FieldsResource>, name: String) -> FieldsResult<()> {
        let asked = RecordedHeaders::of(self, vec![(name.clone(), Vec::new())]);
        self.change(DELETE, fields.rep(), asked, |fields| fields.delete(&name))
    }

    fn append(&mut self, fields: Resource<FieldsResource>, name: String, value: Vec<u8>) -> FieldsResult<()> {
        let asked = RecordedHeaders::of(self, vec![(name.clone(), value.clone())]);
        self.change(APPEND, fields.rep(), asked, |fields| fields.append(&name, value))
    }

    fn entries(&mut self, fields: Resource<FieldsResource>) -> Result<Vec<(String, Vec<u8>)>> {
        let entries = self.call(ENTRIES, fields.rep(), |host| {
            let entries = of_kind!(host.http(ENTRIES, fields.rep())?, ENTRIES, Fields).entries().to_vec();
            Ok(RecordedHeaders::of(host, entries))
        })?;
        Ok(entries.list)
    }

    fn clone(&mut self, fields: Resource<FieldsResource>) -> Result<Resource<FieldsResource>> {
        let rep = fields.rep();
        self.http_open(CLONE, rep, |host| {
            Ok(HttpHandle::Fields(of_kind!(host.http(CLONE, rep)?, CLONE, Fields).thawed()))
        })
    }

    fn drop(&mut self, fields: Resource<FieldsResource>) -> Result<()> {
        self.http_close(DROP, fields.rep())
    }
}
