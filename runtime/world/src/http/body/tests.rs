//! Bodies: taken once, finished once, bounded, and whole.

use super::*;

const ME: NodeId = NodeId(0);

fn at(ns: u64) -> Instant {
    Instant(ns)
}

#[test]
fn a_body_is_readable_when_it_is_finished() {
    let (mut bodies, mut signals) = (HttpBodies::default(), Signals::default());
    let id = bodies.open(MessageKind::Request, ME, None, &mut signals);
    bodies.write(id, b"hel").expect("it is read");
    bodies.write(id, b"lo").expect("it is read");
    assert_eq!(bodies.read(id, 0, 9, at(5), &signals), BodyRead::Nothing);
    assert_eq!(bodies.trailers(id, at(5), &signals), None);
    let trailers = HeaderFields::from_list([("a".to_owned(), b"b".to_vec())]).expect("valid");
    bodies.finish(id, Some(trailers.clone()), at(7), &mut signals).expect("no length was promised");
    assert_eq!(bodies.read(id, 0, 9, at(6), &signals), BodyRead::Nothing);
    assert_eq!(bodies.read(id, 0, 2, at(7), &signals), BodyRead::Bytes(b"he"));
    assert_eq!(bodies.read(id, 2, u64::MAX, at(7), &signals), BodyRead::Bytes(b"llo"));
    assert_eq!(bodies.read(id, 5, 9, at(7), &signals), BodyRead::End);
    assert_eq!(bodies.read(id, u64::MAX, 9, at(7), &signals), BodyRead::End);
    assert_eq!(bodies.trailers(id, at(7), &signals), Some(Ok(Some(trailers.frozen()))));
    assert_eq!(bodies.held_bytes(), 5);
    bodies.let_go(id, BodySide::Reader);
    assert!(bodies.is_empty());
    assert_eq!(bodies.held_bytes(), 0);
}

#[test]
fn the_promised_length_is_kept_or_is_an_error() {
    for (of, promised, written) in [
        (MessageKind::Request, 4, 3),
        (MessageKind::Response, 4, 3),
        (MessageKind::Request, 3, 3),
        (MessageKind::Request, 0, 1),
    ] {
        let (mut bodies, mut signals) = (HttpBodies::default(), Signals::default());
        let id = bodies.open(of, ME, Some(promised), &mut signals);
        let wrote = bodies.write(id, &vec![b'x'; written as usize]);
        let too_many = BodyWriteError::Failed(of.size_error(written));
        assert_eq!(wrote, if written > promised { Err(too_many) } else { Ok(()) });
        let finished = bodies.finish(id, None, at(1), &mut signals);
        assert_eq!(finished, if written == promised { Ok(()) } else { Err(of.size_error(written)) });
        let found = bodies.read(id, written, 1, at(1), &signals);
        let failed = BodyRead::Failed(HttpErrorCode::HttpResponseIncomplete);
        assert_eq!(found, if written == promised { BodyRead::End } else { failed });
    }
}

#[test]
fn a_body_that_nobody_reads_is_closed_and_one_that_is_dropped_is_cut() {
    let (mut bodies, mut signals) = (HttpBodies::default(), Signals::default());
    let unread = bodies.open(MessageKind::Request, ME, None, &mut signals);
    bodies.let_go(unread, BodySide::Reader);
    assert_eq!(bodies.write(unread, b"x"), Err(BodyWriteError::Closed));
    bodies.abort(unread, at(1), &mut signals);
    let dropped = bodies.open(MessageKind::Response, NodeId(3), None, &mut signals);
    bodies.write(dropped, b"abc").expect("it is read");
    assert_eq!(bodies.abort_all_of(NodeId(3), at(2), &mut signals), [dropped]);
    assert_eq!(bodies.read(dropped, 0, 9, at(2), &signals), BodyRead::Bytes(b"abc"));
    assert_eq!(bodies.read(dropped, 3, 9, at(2), &signals), BodyRead::Failed(HttpErrorCode::HttpResponseIncomplete));
    bodies.let_go(dropped, BodySide::Reader);
    assert!(bodies.is_empty());
}

#[test]
fn a_stream_is_taken_once() {
    let (mut bodies, mut signals) = (HttpBodies::default(), Signals::default());
    let id = bodies.open(MessageKind::Request, ME, None, &mut signals);
    assert!(bodies.take_stream(id, BodySide::Writer));
    assert!(bodies.has_open_stream(id, BodySide::Writer) && !bodies.has_open_stream(id, BodySide::Reader));
    assert!(!bodies.take_stream(id, BodySide::Writer));
    bodies.drop_stream(id, BodySide::Writer);
    assert!(!bodies.has_open_stream(id, BodySide::Writer));
    assert!(!bodies.take_stream(id, BodySide::Writer));
}

#[test]
fn a_connection_breaks_after_so_many_bytes_and_patience_ends() {
    let (mut bodies, mut signals) = (HttpBodies::default(), Signals::default());
    for (cut, seen) in [(0, ""), (2, "ab"), (3, "abc"), (9, "abc")] {
        let id = bodies.whole(MessageKind::Response, Arc::from(*b"abc"), Some(cut), &mut signals);
        if !seen.is_empty() {
            assert_eq!(bodies.read(id, 0, 9, at(0), &signals), BodyRead::Bytes(seen.as_bytes()));
        }
        let failed = BodyRead::Failed(HttpErrorCode::HttpResponseIncomplete);
        assert_eq!(bodies.read(id, seen.len() as u64, 9, at(0), &signals), failed);
        assert_eq!(bodies.trailers(id, at(0), &signals), Some(Err(HttpErrorCode::HttpResponseIncomplete)));
    }
    let slow = bodies.open(MessageKind::Response, ME, None, &mut signals);
    bodies.travels(slow, Duration(10), None);
    bodies.read_until(slow, at(100), &mut signals);
    bodies.finish(slow, None, at(95), &mut signals).expect("nothing promised");
    assert_eq!(bodies.read(slow, 0, 1, at(99), &signals), BodyRead::Nothing);
    assert_eq!(bodies.read(slow, 0, 1, at(105), &signals), BodyRead::Failed(HttpErrorCode::ConnectionReadTimeout));
    let quick = bodies.open(MessageKind::Response, ME, None, &mut signals);
    bodies.travels(quick, Duration(10), None);
    bodies.read_until(quick, at(100), &mut signals);
    bodies.finish(quick, None, at(90), &mut signals).expect("nothing promised");
    assert_eq!(bodies.read(quick, 0, 1, at(100), &signals), BodyRead::End);
}

#[test]
fn bodies_are_bounded_one_by_one_and_together() {
    let (mut bodies, mut signals) = (HttpBodies::default(), Signals::default());
    let chunk = vec![0; 1 << 20];
    let mut open = Vec::new();
    for _ in 0..HELD_BYTES_MAX / BODY_BYTES_MAX {
        let id = bodies.open(MessageKind::Request, ME, None, &mut signals);
        for _ in 0..BODY_BYTES_MAX >> 20 {
            bodies.write(id, &chunk).expect("room");
        }
        let full = BODY_BYTES_MAX + 1;
        assert_eq!(bodies.write(id, b"x"), Err(BodyWriteError::Failed(MessageKind::Request.size_error(full))));
        assert_eq!(bodies.finish(id, None, at(1), &mut signals), Err(MessageKind::Request.size_error(full)));
        open.push(id);
    }
    let one_more = bodies.open(MessageKind::Response, ME, None, &mut signals);
    assert!(matches!(bodies.write(one_more, b"x"), Err(BodyWriteError::Failed(HttpErrorCode::InternalError(Some(_))))));
    assert!(bodies.finish(one_more, None, at(1), &mut signals).is_err(), "a byte is missing");
    open.iter().for_each(|id| bodies.let_go(*id, BodySide::Reader));
    assert_eq!(bodies.held_bytes(), 0);
}
