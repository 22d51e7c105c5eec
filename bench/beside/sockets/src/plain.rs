//! The two programs with the sockets of std, unchanged: `sockets serve ADDRESS` and `sockets ask ADDRESS MESSAGES BATCH`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

/// Bytes of a message.
const MESSAGE: usize = 64;

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", address] => serve(address),
        ["ask", address, messages, batch] => ask(address, number(messages), number(batch)),
        _ => Err(std::io::Error::other("sockets serve ADDRESS | ask ADDRESS MESSAGES BATCH")),
    }
}

fn number(word: &str) -> usize {
    word.parse().expect("a number")
}

/// Gives back what comes, until the connection is closed.
fn serve(address: &str) -> std::io::Result<()> {
    let (mut connection, _) = TcpListener::bind(address)?.accept()?;
    let mut buffer = [0; 64 * MESSAGE];
    loop {
        match connection.read(&mut buffer)? {
            0 => return Ok(()),
            bytes => connection.write_all(&buffer[..bytes])?,
        }
    }
}

/// Sends as many messages at once, and waits until all are back.
fn ask(address: &str, messages: usize, batch: usize) -> std::io::Result<()> {
    let mut connection = TcpStream::connect(address)?;
    connection.set_nodelay(true)?;
    let (sent, mut back) = ([7; MESSAGE], vec![0; batch * MESSAGE]);
    for _ in 0..messages / batch {
        for _ in 0..batch {
            connection.write_all(&sent)?;
        }
        connection.read_exact(&mut back)?;
        assert!(back.iter().all(|byte| *byte == 7), "another message came back");
    }
    println!("{messages} messages came back");
    Ok(())
}
