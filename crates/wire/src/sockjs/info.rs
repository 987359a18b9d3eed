//! The info document: what a client asks for before it opens a session.

/// The body of `GET /info`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Info {
    /// Whether the `websocket` transport is offered.
    pub websocket: bool,
    /// Always `["*:*"]`; no client looks.
    #[serde(default = "any_origin")]
    pub origins: Vec<String>,
    /// Whether requests must carry a cookie for a load balancer's sake.
    #[serde(default)]
    pub cookie_needed: bool,
    /// A random number, another one for each request.
    #[serde(default)]
    pub entropy: u32,
}

fn any_origin() -> Vec<String> {
    vec!["*:*".to_owned()]
}

impl Info {
    /// A server that asks for no cookie; `entropy` is random.
    pub fn new(websocket: bool, entropy: u32) -> Info {
        Info { websocket, origins: any_origin(), cookie_needed: false, entropy }
    }

    /// Reads the document; None when it is none. Unknown members are ignored.
    pub fn from_json(json: &str) -> Option<Info> {
        serde_json::from_str(json).ok()
    }

    /// The document.
    pub fn to_json(&self) -> String {
        let Info { websocket, origins, cookie_needed, entropy } = self;
        let origins = serde_json::Value::from(origins.clone());
        format!(
            r#"{{"websocket":{websocket},"origins":{origins},"cookie_needed":{cookie_needed},"entropy":{entropy}}}"#
        )
    }
}
