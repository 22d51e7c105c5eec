//! The files of the pages, in the binary: no step builds them.
//!
//! ```text
//! index.html · app.css · app.js        ours
//! uplot.js · uplot.css                 uPlot 1.6.32, as published (LICENSE-uPlot)
//! ```

/// A file that a browser asks for.
pub(crate) struct Asset {
    pub(crate) path: &'static str,
    pub(crate) media_type: &'static str,
    pub(crate) content: &'static str,
}

/// The page.
pub(crate) const INDEX: &str = include_str!("assets/index.html");

/// What it takes.
pub(crate) const ASSETS: [Asset; 4] = [
    Asset { path: "/app.css", media_type: "text/css; charset=utf-8", content: include_str!("assets/app.css") },
    Asset { path: "/app.js", media_type: "text/javascript; charset=utf-8", content: include_str!("assets/app.js") },
    Asset { path: "/uplot.css", media_type: "text/css; charset=utf-8", content: include_str!("assets/uplot.css") },
    Asset { path: "/uplot.js", media_type: "text/javascript; charset=utf-8", content: include_str!("assets/uplot.js") },
];
