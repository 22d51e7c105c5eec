//! The same two programs with turmoil's sockets: `beside-turmoil MESSAGES BATCH` prints messages per CPU second.

use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use turmoil::net::{TcpListener, TcpStream};

#[path = "measure.rs"]
mod measure;

/// Bytes of a message.
const MESSAGE: usize = 64;

fn main() {
    let (messages, batch) = measure::order();
    measure::print("turmoil", messages, || simulate(messages, batch));
}

fn simulate(messages: usize, batch: usize) {
    let mut sim = turmoil::Builder::new()
        .simulation_duration(Duration::from_secs(1 << 20))
        .min_message_latency(Duration::from_millis(1))
        .max_message_latency(Duration::from_millis(1))
        .tcp_capacity(1 << 16)
        .rng_seed(1)
        .build();
    sim.host("server", || async {
        let (mut connection, _) = TcpListener::bind(("0.0.0.0", 9000)).await?.accept().await?;
        let mut buffer = [0; 64 * MESSAGE];
        loop {
            match connection.read(&mut buffer).await? {
                0 => return Ok(()),
                bytes => connection.write_all(&buffer[..bytes]).await?,
            }
        }
    });
    sim.client("client", async move {
        let mut connection = TcpStream::connect(("server", 9000)).await?;
        let (sent, mut back) = ([7; MESSAGE], vec![0; batch * MESSAGE]);
        for _ in 0..messages / batch {
            for _ in 0..batch {
                connection.write_all(&sent).await?;
            }
            connection.read_exact(&mut back).await?;
            assert!(back.iter().all(|byte| *byte == 7), "another message came back");
        }
        Ok(())
    });
    sim.run().expect("it ends");
}
