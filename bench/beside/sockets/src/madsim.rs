//! The same two programs with madsim's runtime and sockets: `beside-madsim MESSAGES BATCH` prints messages per CPU second.

use madsim::runtime::{Handle, Runtime};
use madsim_tokio::io::{AsyncReadExt, AsyncWriteExt};
use madsim_tokio::net::{TcpListener, TcpStream};

#[path = "measure.rs"]
mod measure;

/// Bytes of a message.
const MESSAGE: usize = 64;

fn main() {
    let (messages, batch) = measure::order();
    measure::print("madsim", messages, || simulate(messages, batch));
}

fn simulate(messages: usize, batch: usize) {
    Runtime::with_seed_and_config(1, madsim::Config::default()).block_on(async move {
        let node = |name: &str, address: &str| {
            Handle::current().create_node().name(name).ip(address.parse().expect("an address")).build()
        };
        let server = node("server", "10.0.0.1");
        let serves = server.spawn(async {
            let (mut connection, _) = TcpListener::bind("10.0.0.1:9000").await?.accept().await?;
            let mut buffer = [0; 64 * MESSAGE];
            loop {
                match connection.read(&mut buffer).await? {
                    0 => return std::io::Result::Ok(()),
                    bytes => {
                        connection.write_all(&buffer[..bytes]).await?;
                        connection.flush().await?;
                    }
                }
            }
        });
        let client = node("client", "10.0.0.2");
        let asks = client.spawn(async move {
            madsim::time::sleep(std::time::Duration::from_millis(10)).await;
            let mut connection = TcpStream::connect("10.0.0.1:9000").await.expect("it listens");
            let (sent, mut back) = ([7; MESSAGE], vec![0; batch * MESSAGE]);
            for _ in 0..messages / batch {
                for _ in 0..batch {
                    connection.write_all(&sent).await.expect("it is sent");
                }
                connection.flush().await.expect("it is sent");
                connection.read_exact(&mut back).await.expect("it comes back");
                assert!(back.iter().all(|byte| *byte == 7), "another message came back");
            }
        });
        asks.await.expect("it ends");
        serves.abort();
    });
}
