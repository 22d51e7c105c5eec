//! HTTP as the guest sees it: messages, and the rules that answer.
