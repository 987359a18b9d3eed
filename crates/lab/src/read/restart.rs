//! What a script says of a service that runs already and is restarted for its runs.

use super::{Reading, command, given, scalar, within};
use crate::read::Mistake;
use crate::settings::{Command, ReadBack, Restart};
use serde_json::{Map, Value};

impl Reading {
    /// What restarts a service that runs already, and what belongs to it.
    pub(super) fn restart(&mut self, map: &Map<String, Value>) -> Option<(Command, Restart)> {
        let is_given = |key: &&str| given(map, key).is_some();
        if !is_given(&"restart") {
            for key in ["apply", "read", "restore"].into_iter().filter(is_given) {
                let what = format!("{key} is for a service that runs already, and launch has no `restart`");
                self.misplaced(key, what, "e.g. `restart: systemctl restart chat`");
            }
            return None;
        }
        // Variables of the run would be in the restart after it as well, and stay.
        if is_given(&"env") {
            let what = "env would stay with a service that goes on after the run".to_owned();
            self.misplaced(
                "env",
                what,
                "write the values into the commands: `apply: ./set-pool.sh {{ pool }}`",
            );
        }
        for key in ["command", "stop", "limits", "host"].into_iter().filter(is_given) {
            let what = format!(
                "{key} is for a service that is started, and launch has `restart`, for one that runs already"
            );
            self.misplaced(key, what, "leave out one of the two");
        }
        let apply = self.command(map, "apply");
        let restore = self.command(map, "restore");
        if apply.is_some() && !is_given(&"restore") {
            let what = "apply changes the service, and nothing says how to undo it".to_owned();
            self.misplaced("apply", what, "add `restore`, the command that sets what was there before");
        }
        let read = given(map, "read").and_then(|value| self.read_back(value));
        let command = self.command(map, "restart")?;
        Some((command, Restart { apply, read, restore }))
    }

    /// A key that must not stand there.
    fn misplaced(&mut self, key: &str, what: String, hint: &str) {
        let (pointer, hint) = (within("", key), Some(hint.to_owned()));
        self.mistakes.push(Mistake { pointer, is_key: true, what, hint });
    }

    fn read_back(&mut self, value: &Value) -> Option<ReadBack> {
        let map = self.mapping("read", "/read", value)?;
        for key in ["command", "equals"].into_iter().filter(|key| given(map, key).is_none()) {
            self.wrong("/read", format!("read has no `{key}`"), None);
        }
        let wants = "a text for `sh -c`, or a list of a program and its arguments";
        let command = self.value((map, "/read", "command"), wants, command);
        let equals = self.value((map, "/read", "equals"), "a text, a number or a truth value", scalar);
        Some(ReadBack { command: command?, equals: equals? })
    }
}
