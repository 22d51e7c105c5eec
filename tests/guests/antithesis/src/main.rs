//! Draws three values, and says of them what the SDK has words for.

use antithesis_sdk::prelude::*;
use antithesis_sdk::random::{get_random, random_choice};
use serde_json::json;

fn main() {
    antithesis_init();
    lifecycle::setup_complete(&json!({ "rounds": 1 }));
    let (left, right) = (get_random() % 16, get_random() % 16);
    let colour = *random_choice(&["red", "green", "blue", "black"]).expect("there are four");
    assert_always!(left < 16, "left is in range");
    assert_always!(!(left == 7 && colour == "blue"), "no blue jackpot", &json!({ "left": left }));
    assert_always_or_unreachable!(right < 16, "right is in range");
    assert_sometimes!(left == 16, "left is out of range");
    assert_sometimes_greater_than!(left, 20u64, "left is large");
    assert_always_less_than!(right, 16u64, "right is below its bound");
    assert_sometimes_all!({ low: left < 4, high: right >= 16, blue: colour == "blue" }, "an impossible mix");
    if left == 16 {
        assert_reachable!("the end of the range");
        assert_unreachable!("beyond the range");
    }
    lifecycle::send_event("drawn", &json!({ "left": left, "right": right, "colour": colour }));
    println!("{left} {right} {colour}");
}
