//! Walking a flow: an explicit stack of frames instead of recursion, so that a waiting user is one small future however
//! deep its loops are. Heavy steps are boxed while they run.

use serde_json::Value;
use std::borrow::Cow;
use std::time::Duration;

use super::{Halt, LAST_ITERATION_NS, User};
use crate::plan::{Jitter, Loop, Pace, Repeat, Step, Think, seconds_of};
use crate::processor::Kind;
use crate::values::{LoopValues, Unfilled};
use sonagi_measure::At;
use sonagi_measure::outcome::Failure;

/// A list of steps being walked; for a loop's body, with its turns.
struct Frame<'p> {
    steps: &'p [Step],
    next: u32,
    /// Steps that a reconnect takes again.
    is_entry: bool,
    turns: Option<Box<Turns<'p>>>,
}

impl<'p> Frame<'p> {
    /// Steps that are walked once.
    fn once(steps: &'p [Step]) -> Frame<'p> {
        Frame { steps, next: 0, is_entry: false, turns: None }
    }

    /// Steps that belong to the plan of a reconnect.
    fn entry(steps: &'p [Step]) -> Frame<'p> {
        Frame { is_entry: true, ..Frame::once(steps) }
    }

    /// The turns of a loop that has just been entered.
    fn unbegun(&mut self) -> Option<&mut Turns<'p>> {
        self.turns.as_deref_mut().filter(|turns| turns.begun == 0)
    }
}

/// How far a loop is.
struct Turns<'p> {
    of: &'p Loop,
    /// Iterations begun so far.
    begun: u64,
    /// The weight of the first choice.
    first: u64,
    limit: u64,
    elements: Box<[Value]>,
    /// When its first iteration is due: its pace counts from here.
    origin: At,
}

impl User {
    /// Walks a flow to its end, or until something halts it.
    ///
    /// Blocks instead of `async fn`s, here and below on the way to where most users wait: those would keep what they
    /// are given twice.
    pub(crate) fn walk(&mut self, flow: &[Step]) -> impl Future<Output = Result<(), Halt>> {
        if has_expect(flow) {
            self.inbox.keep_all();
        }
        // Room for one loop: grown by doubling, the stacks of ten thousand idle users would be half empty.
        let mut frames = Vec::with_capacity(2);
        frames.push(Frame::once(flow));
        async move {
            while let Some(frame) = frames.last_mut() {
                if let Some(step) = frame.steps.get(frame.next as usize) {
                    frame.next += 1;
                    match step {
                        Step::Loop(of) => {
                            frames.extend(self.enter(of)?);
                            if let Some(turns) = frames.last_mut().and_then(Frame::unbegun) {
                                match self.begin_turn(turns) {
                                    Some(due) => self.pause_until(due).await?,
                                    None => self.check_stop().await?,
                                }
                            }
                        }
                        Step::When { condition, probability, steps } => {
                            let holds = match condition {
                                Some(condition) => self.holds(condition, Kind::If).await?,
                                None => true,
                            };
                            if holds && self.values.rng.f64() < *probability {
                                frames.push(Frame::once(steps));
                            }
                        }
                        Step::Open(step) => {
                            self.note_opening(step);
                            frames.push(Frame::entry(std::slice::from_ref(step.as_ref())));
                        }
                        Step::Subscribe(subscribe) => {
                            // An attempt under way takes it along, but not twice.
                            self.regain_at_any_time().await?;
                            self.note_subscription(subscribe);
                            frames.push(Frame::entry(&subscribe.steps));
                        }
                        _ if self.is_called_off() => return Err(Halt::Failed),
                        step => {
                            self.note_outage();
                            let taken = self.take(step).await;
                            self.tell_unset(step);
                            match taken {
                                Err(Halt::Lost) => self.abandon(&mut frames),
                                taken => taken?,
                            }
                        }
                    }
                    continue;
                }
                let is_loop = frame.turns.is_some();
                if let Some(turns) = frame.turns.as_deref_mut()
                    && self.turn(turns).await?
                {
                    frame.next = 0;
                    continue;
                }
                if is_loop {
                    self.values.loops.pop();
                }
                if frames.pop().is_some_and(|frame| frame.is_entry) {
                    self.close_entry();
                }
            }
            Ok(())
        }
    }

    /// A step has failed with its connection: the flow goes on after it, and after all of the entry it belongs to,
    /// which the reconnect takes from its beginning.
    fn abandon(&mut self, frames: &mut Vec<Frame<'_>>) {
        self.inbox.stop_awaiting();
        let Some(entry) = frames.iter().position(|frame| frame.is_entry) else { return };
        let loops = frames.drain(entry..).filter(|frame| frame.turns.is_some()).count();
        self.values.loops.truncate(self.values.loops.len().saturating_sub(loops));
        self.close_entry();
    }

    pub(super) async fn take(&mut self, step: &Step) -> Result<(), Halt> {
        match step {
            Step::Think(think) => {
                let over = self.thought_until(think)?;
                self.pause_until(over).await
            }
            Step::Log(text) => {
                let text = self.values.text(text);
                let text = self.filled(text)?;
                self.shard.print(self.values.member, text);
                Ok(())
            }
            Step::Set { name, value } => {
                let value = self.values.value(value);
                let value = self.filled(value)?;
                self.values.set(name, value);
                Ok(())
            }
            Step::Call(step) => {
                Box::pin(self.call(step)).await?;
                self.heed_loss()
            }
            Step::Http(step) => {
                Box::pin(self.request(step)).await?;
                self.heed_loss()
            }
            Step::WebsocketConnect(step) => Box::pin(self.connect_websocket(step)).await,
            Step::WebsocketSend(step) => Box::pin(self.send_websocket(step)).await,
            Step::SocketioConnect(step) => Box::pin(self.connect_socketio(step)).await,
            Step::SocketioEmit(step) => Box::pin(self.emit(step)).await,
            Step::Expect(step) => Box::pin(self.expect(step)).await,
            Step::SseOpen(step) => Box::pin(self.open_sse(step)).await,
            Step::PollOpen(step) => Box::pin(self.open_poll(step)).await,
            Step::StompConnect(step) => Box::pin(self.connect_stomp(step)).await,
            Step::StompSubscribe(step) => Box::pin(self.subscribe_stomp(step)).await,
            Step::StompSend(step) => Box::pin(self.send_stomp(step)).await,
            Step::Join(room) => {
                let name = self.values.text(room);
                let name = self.filled(name)?;
                self.join(&name);
                Ok(())
            }
            Step::Leave(room) => {
                let name = self.values.text(room);
                let name = self.filled(name)?;
                self.leave_room(&name);
                Ok(())
            }
            Step::Disconnect => {
                self.close_for_good();
                Box::pin(self.hang_up()).await;
                self.due = self.now();
                Ok(())
            }
            Step::Reconnect => Box::pin(self.reconnect()).await,
            Step::Parallel(parallel) => {
                Box::pin(self.parallel(parallel)).await?;
                self.heed_loss()
            }
            // `walk` gives these frames of their own.
            Step::Loop(_) | Step::When { .. } | Step::Open(_) | Step::Subscribe(_) => Ok(()),
        }
    }

    /// When a think time that begins now is over.
    fn thought_until(&mut self, think: &Think) -> Result<At, Halt> {
        let seconds = self.values.value(&think.seconds).and_then(|value| {
            let seconds = value.as_f64().or_else(|| seconds_of(value.as_str()?.trim()));
            seconds.ok_or_else(|| Unfilled(format!("a time is wanted, got {value}")))
        });
        let seconds = self.filled(seconds)?;
        let spread = match think.jitter {
            Jitter::None => 0.0,
            Jitter::Millis(millis) => millis / 1e3,
            Jitter::Share(share) => share * seconds,
        };
        let seconds = (seconds + spread * (2.0 * self.values.rng.f64() - 1.0)).max(0.0);
        Ok(self.due.plus((seconds * 1e9) as i64))
    }

    /// Waits for `due`, from which the next operation counts; how late we woke is ours to answer for.
    fn pause_until(&mut self, due: At) -> impl Future<Output = Result<(), Halt>> {
        self.due = due;
        async move {
            if due <= self.now() {
                return self.check_stop().await;
            }
            loop {
                let until = self.next_attempt().map_or(due, |next| next.min(due));
                self.idle_until(until).await?;
                let now = self.now();
                if now >= due {
                    self.shard.recorder.borrow_mut().send_lag(now.since(due));
                    return Ok(());
                }
                self.mend().await?;
                if self.now() >= due {
                    // The attempt took us here: no lateness of ours.
                    return Ok(());
                }
            }
        }
    }

    /// A flow that never waits still lets others run and sees that the run stops. One that has waited has done so:
    /// another turn of the scheduler, with its look at the sockets, would cost it for nothing.
    async fn check_stop(&mut self) -> Result<(), Halt> {
        self.mend().await?;
        if !std::mem::take(&mut self.has_waited) {
            self.put_down();
            tokio::task::yield_now().await;
            self.take_up();
        }
        let over = self.now() >= self.cut_at;
        if self.shard.is_stopping() || over { Err(Halt::Stopped) } else { Ok(()) }
    }

    /// The frame of a loop, before its first turn; None of a loop without any.
    fn enter<'p>(&mut self, of: &'p Loop) -> Result<Option<Frame<'p>>, Halt> {
        let (mut elements, mut first) = (Vec::new(), 0);
        let limit = match &of.repeat {
            Repeat::Forever | Repeat::While(_) => u64::MAX,
            Repeat::Count { from, to } => {
                first = *from;
                to.saturating_sub(*from)
            }
            Repeat::CountOf(count) => {
                let range = self.values.known(count).and_then(|count| range_of(&count)).unwrap_or(0..0);
                first = range.start;
                range.end.saturating_sub(range.start)
            }
            Repeat::Over(list) => {
                if let Some(Value::Array(items)) = self.values.known(list) {
                    elements = items;
                }
                elements.len() as u64
            }
            Repeat::OverList(list) => {
                let list = self.values.filled(list);
                if let Some(Value::Array(items)) = self.filled(list)?.map(Cow::into_owned) {
                    elements = items;
                }
                elements.len() as u64
            }
        };
        if limit == 0 {
            return Ok(None);
        }
        let origin = of.pace.map_or(self.due, |pace| self.first_due(pace));
        let turns = Turns { of, begun: 0, first, limit, elements: elements.into(), origin };
        self.values.loops.reserve_exact(1);
        self.values.loops.push(LoopValues { count: 0, element: None });
        Ok(Some(Frame { turns: Some(Box::new(turns)), ..Frame::once(&of.body) }))
    }

    /// When the first iteration of a loop of this pace is due that begins now. A user whose time is nearly over has no
    /// time left for a whole phase.
    fn first_due(&mut self, pace: Pace) -> At {
        let phase = match pace.phase {
            Some(phase) => phase.as_nanos() as i64,
            None => {
                let left = self.cut_at.since(self.due) - LAST_ITERATION_NS;
                let most = (pace.every.as_nanos() as i64).min(left);
                if most > 0 { self.values.rng.i64(0..most) } else { 0 }
            }
        };
        self.due.plus(phase)
    }

    /// After an iteration: begins the next one if there is to be one.
    fn turn(&mut self, turns: &mut Turns<'_>) -> impl Future<Output = Result<bool, Halt>> {
        let is_counted_on = turns.begun < turns.limit;
        async move {
            let goes_on = match &turns.of.repeat {
                Repeat::While(condition) => {
                    // To the condition the turn is over: as many have been as are counted.
                    if let Some(innermost) = self.values.loops.last_mut() {
                        innermost.count += 1;
                    }
                    self.holds(condition, Kind::While).await?
                }
                Repeat::Forever => match self.last_turn_until(turns) {
                    None => true,
                    Some(until) => {
                        if self.now() < until {
                            self.pause_until(until).await?;
                        }
                        false
                    }
                },
                _ => is_counted_on,
            };
            if goes_on {
                match self.begin_turn(turns) {
                    Some(due) => self.pause_until(due).await?,
                    None => self.check_stop().await?,
                }
            }
            Ok(goes_on)
        }
    }

    /// When the last turn of a loop without end is over; None: it has another. A closed model's user leaves it when its
    /// time is over, and not before: the population is what the plan says to the end.
    fn last_turn_until(&self, turns: &Turns<'_>) -> Option<At> {
        let until = self.cut_at.plus(-LAST_ITERATION_NS);
        let due =
            turns.of.pace.map_or(self.now(), |pace| turns.origin.plus(multiple(pace.every, turns.begun)));
        (due >= until).then_some(until)
    }

    /// Counts a turn; returns when it is due. None: now, in a loop without a pace, which need not read the clock.
    fn begin_turn(&mut self, turns: &mut Turns<'_>) -> Option<At> {
        let index = turns.begun;
        turns.begun += 1;
        if let Some(innermost) = self.values.loops.last_mut() {
            innermost.count = turns.first + index;
            innermost.element = turns.elements.get(index as usize).cloned().map(Box::new);
        }
        turns.of.pace.map(|pace| turns.origin.plus(multiple(pace.every, index)))
    }

    /// A value for a hole, or the user's end.
    pub(super) fn filled<T>(&mut self, value: Result<T, Unfilled>) -> Result<T, Halt> {
        value.map_err(|Unfilled(why)| self.note_failure(None, Failure::Template, why))
    }
}

/// The numbers a loop's count says: so many from 0, or a range's. None when it says none.
fn range_of(count: &Value) -> Option<std::ops::Range<u64>> {
    let text = match count {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    if let Ok(number) = text.parse::<f64>() {
        return Some(0..if number == -1.0 { u64::MAX } else { number.ceil() as u64 });
    }
    let (from, to) = text.split_once('-')?;
    Some(from.trim().parse().ok()?..to.trim().parse().ok()?)
}

fn multiple(pace: Duration, index: u64) -> i64 {
    (pace.as_nanos() as i64).saturating_mul(index as i64)
}

fn has_expect(steps: &[Step]) -> bool {
    steps.iter().any(|step| match step {
        Step::Expect(_) => true,
        Step::Loop(of) => has_expect(&of.body),
        Step::When { steps, .. } => has_expect(steps),
        Step::Open(step) => has_expect(std::slice::from_ref(step.as_ref())),
        Step::Subscribe(subscribe) => has_expect(&subscribe.steps),
        _ => false,
    })
}
