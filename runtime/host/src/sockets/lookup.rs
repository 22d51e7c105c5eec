//! `wasi:sockets/ip-name-lookup`: the answer is known at once.

use super::{SocketResult, wit_address, wrong};
use crate::bindings::wasi::sockets::ip_name_lookup::{self, IpAddress};
use crate::bindings::{NetworkResource, PollableResource, ResolveAddressStreamResource};
use crate::call::{Host, Import};
use crate::record::WordRecord;
use fozzy_world::Wait;
use fozzy_world::table::Handle;
use wasmtime::Result;
use wasmtime::component::Resource;

const RESOLVE: Import = Import::new("wasi:sockets/ip-name-lookup.resolve-addresses");
const NEXT: Import = Import::new("wasi:sockets/ip-name-lookup.resolve-address-stream.resolve-next-address");
const SUBSCRIBE: Import = Import::new("wasi:sockets/ip-name-lookup.resolve-address-stream.subscribe");
const DROP: Import = Import::new("wasi:sockets/ip-name-lookup.resolve-address-stream.drop");

impl ip_name_lookup::Host for Host {
    fn resolve_addresses(
        &mut self,
        network: Resource<NetworkResource>,
        name: String,
    ) -> SocketResult<Resource<ResolveAddressStreamResource>> {
        let stream = self.socket_call(RESOLVE, (network.rep(), &name), |host| {
            host.check_network(RESOLVE, &network)?;
            match host.world().network.resolve(&name) {
                Ok(mut addresses) => {
                    addresses.reverse();
                    host.handle(RESOLVE, Handle::Addresses(addresses)).map(Ok)
                }
                Err(error) => Ok(Err(error)),
            }
        })?;
        Ok(stream.map(Resource::new_own))
    }
}

impl ip_name_lookup::HostResolveAddressStream for Host {
    fn resolve_next_address(
        &mut self,
        handle: Resource<ResolveAddressStreamResource>,
    ) -> SocketResult<Option<IpAddress>> {
        let rep = handle.rep();
        let next = self.socket_call(NEXT, rep, |host| match host.node_mut().table.get_mut(rep) {
            Ok(Handle::Addresses(addresses)) => Ok(Ok(addresses.pop().map(WordRecord))),
            _ => Err(wrong(NEXT)),
        })?;
        Ok(next.map(|next| next.map(|WordRecord(ip)| wit_address(ip))))
    }

    fn subscribe(&mut self, handle: Resource<ResolveAddressStreamResource>) -> Result<Resource<PollableResource>> {
        self.subscribe_to(SUBSCRIBE, handle.rep(), |handle| {
            matches!(handle, Handle::Addresses(_)).then_some(Wait::Nothing)
        })
    }

    fn drop(&mut self, handle: Resource<ResolveAddressStreamResource>) -> Result<()> {
        self.close(DROP, handle.rep())
    }
}
