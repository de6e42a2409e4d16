//! One partition's worker: one message after another, and commits of what is done.

use crate::consumer::Group;
use crate::downstream::{Downstream, Failure};
use crate::stats::Stats;
use rdkafka::consumer::{CommitMode, Consumer, StreamConsumer};
use rdkafka::{Offset, TopicPartitionList};
use serde::Deserialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::{sleep, timeout};

/// Messages in hand from which a partition is paused; at half of it, it goes on.
pub const QUEUE_LIMIT: usize = 1000;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONG_PAUSE: Duration = Duration::from_secs(2);
/// Bounds a commit: when partitions are given back, the group waits for it.
const COMMIT_LIMIT: Duration = Duration::from_secs(3);

/// A message as far as a worker needs it.
pub struct Task {
    pub offset: i64,
    pub payload: Vec<u8>,
}

#[derive(Deserialize)]
struct Message {
    id: String,
}

pub struct Worker {
    pub consumer: Arc<StreamConsumer<Group>>,
    pub downstream: Arc<Downstream>,
    pub stats: Arc<Stats>,
    pub topic: String,
    pub partition: i32,
    pub commit_every: usize,
    pub queue: mpsc::UnboundedReceiver<Task>,
    pub in_hand: Arc<AtomicUsize>,
    pub stop: watch::Receiver<bool>,
}

impl Worker {
    /// Works until it is stopped. Commits when enough is done, when no more is in hand, and at the end.
    pub async fn run(mut self) {
        // The offset behind the last message that is done and not committed, and how many there are.
        let mut done: Option<i64> = None;
        let mut count = 0;
        while !*self.stop.borrow() {
            let task = self.queue.try_recv().ok();
            if (task.is_none() || count >= self.commit_every)
                && let Some(next) = done
                && self.commit(next).await
            {
                (done, count) = (None, 0);
            }
            let Some(task) = task else {
                tokio::select! {
                    found = self.queue.recv() => match found {
                        Some(task) if self.take(&task).await => (done, count) = (Some(task.offset + 1), count + 1),
                        _ => break,
                    },
                    _ = self.stop.changed() => {}
                    () = sleep(LONG_PAUSE), if done.is_some() => {}
                }
                continue;
            };
            if !self.take(&task).await {
                break;
            }
            (done, count) = (Some(task.offset + 1), count + 1);
        }
        if let Some(next) = done {
            self.commit(next).await;
        }
    }

    /// Does one message, and lets its partition go on if it was paused.
    async fn take(&mut self, task: &Task) -> bool {
        if self.in_hand.fetch_sub(1, Ordering::AcqRel) == QUEUE_LIMIT / 2 + 1 {
            let _ = self.consumer.resume(&self.place(Offset::Invalid));
        }
        self.work(task).await
    }

    /// Calls the downstream until it has answered: a message is never given up for a failure that is not its own. One that
    /// cannot be read is skipped. A stop ends the tries, not a call under way: a call that was heard and given up would
    /// be made again by the next owner of the partition. False: the message is not done.
    async fn work(&mut self, task: &Task) -> bool {
        let (partition, offset) = (self.partition, task.offset);
        let message: Message = match serde_json::from_slice(&task.payload) {
            Ok(message) => message,
            Err(error) => {
                tracing::warn!(partition, offset, %error, "message skipped");
                self.stats.skip();
                return true;
            }
        };
        let mut pause = FIRST_PAUSE;
        loop {
            let why = match self.downstream.call_for(&message.id).await {
                Ok(()) => {
                    self.stats.done(partition);
                    return true;
                }
                Err(Failure::TooSlow) => "no answer in time".to_owned(),
                Err(Failure::Failed(why)) => why,
            };
            tracing::warn!(
                partition,
                offset,
                why,
                "downstream call failed, trying again"
            );
            tokio::select! {
                _ = self.stop.wait_for(|stopping| *stopping) => return false,
                () = sleep(pause) => {}
            }
            pause = LONG_PAUSE.min(2 * pause);
        }
    }

    /// Stores that everything before `next` is done. A failure is not final: the next commit covers it, and without one the
    /// messages come again.
    async fn commit(&self, next: i64) -> bool {
        let place = self.place(Offset::Offset(next));
        let consumer = Arc::clone(&self.consumer);
        let commit = tokio::task::spawn_blocking(move || consumer.commit(&place, CommitMode::Sync));
        let why = match timeout(COMMIT_LIMIT, commit).await {
            Ok(Ok(Ok(()))) => return true,
            Ok(Ok(Err(error))) => error.to_string(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "no answer in time".to_owned(),
        };
        tracing::warn!(partition = self.partition, next, why, "commit failed");
        false
    }

    fn place(&self, offset: Offset) -> TopicPartitionList {
        let mut list = TopicPartitionList::new();
        // It fails on offsets below the logical ones alone.
        let _ = list.add_partition_offset(&self.topic, self.partition, offset);
        list
    }
}
