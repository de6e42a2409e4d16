//! The Kafka side: a member of the group, and a worker for each partition that it is given.

use crate::config::KafkaConfig;
use crate::downstream::Downstream;
use crate::stats::Stats;
use crate::worker::{QUEUE_LIMIT, Task, Worker};
use anyhow::Result;
use rdkafka::config::{ClientConfig, RDKafkaLogLevel};
use rdkafka::consumer::{BaseConsumer, Consumer, ConsumerContext, Rebalance, StreamConsumer};
use rdkafka::{ClientContext, Message, TopicPartitionList};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// What a rebalance changes: the workers of the partitions that are assigned.
pub struct Group {
    config: KafkaConfig,
    downstream: Arc<Downstream>,
    stats: Arc<Stats>,
    consumer: OnceLock<Weak<StreamConsumer<Self>>>,
    workers: Mutex<HashMap<i32, Hand>>,
}

/// A worker as the group holds it.
struct Hand {
    queue: mpsc::UnboundedSender<Task>,
    in_hand: Arc<AtomicUsize>,
    stop: watch::Sender<bool>,
    ended: JoinHandle<()>,
}

impl ClientContext for Group {
    fn log(&self, level: RDKafkaLogLevel, facility: &str, message: &str) {
        match level {
            RDKafkaLogLevel::Info | RDKafkaLogLevel::Debug | RDKafkaLogLevel::Notice => {}
            _ => tracing::warn!(facility, "{message}"),
        }
    }
}

impl ConsumerContext for Group {
    fn pre_rebalance(&self, _: &BaseConsumer<Self>, change: &Rebalance<'_>) {
        if let Rebalance::Revoke(partitions) = change {
            // The partitions go to somebody else when this returns: their workers' last commits come before.
            let partitions = numbers(partitions);
            tokio::task::block_in_place(|| {
                tokio::runtime::Handle::current().block_on(self.dismiss(Some(&partitions)));
            });
        }
    }

    fn post_rebalance(&self, _: &BaseConsumer<Self>, change: &Rebalance<'_>) {
        match change {
            Rebalance::Assign(partitions) => self.hire(&numbers(partitions)),
            Rebalance::Error(error) => tracing::warn!(%error, "rebalance failed"),
            Rebalance::Revoke(_) => {}
        }
    }
}

impl Group {
    fn hire(&self, partitions: &[i32]) {
        let Some(consumer) = self.consumer.get().and_then(Weak::upgrade) else {
            return;
        };
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        for &partition in partitions {
            let (queue, tasks) = mpsc::unbounded_channel();
            let (stop, stopped) = watch::channel(false);
            let in_hand = Arc::new(AtomicUsize::new(0));
            let worker = Worker {
                consumer: Arc::clone(&consumer),
                downstream: Arc::clone(&self.downstream),
                stats: Arc::clone(&self.stats),
                topic: self.config.topic.clone(),
                partition,
                commit_every: self.config.commit_every,
                queue: tasks,
                in_hand: Arc::clone(&in_hand),
                stop: stopped,
            };
            let ended = tokio::spawn(worker.run());
            let hand = Hand {
                queue,
                in_hand,
                stop,
                ended,
            };
            workers.insert(partition, hand);
        }
        tracing::info!(?partitions, "partitions assigned");
    }

    /// Stops the workers of these partitions, or all, and waits until they have committed.
    async fn dismiss(&self, partitions: Option<&[i32]>) {
        let leaving: Vec<Hand> = {
            let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
            let chosen: Vec<i32> = match partitions {
                Some(named) => named.to_vec(),
                None => workers.keys().copied().collect(),
            };
            chosen.iter().filter_map(|p| workers.remove(p)).collect()
        };
        for hand in &leaving {
            hand.stop.send_replace(true);
        }
        for hand in leaving {
            let _ = hand.ended.await;
        }
    }

    /// Hands a message to its worker; true if the partition has enough in hand.
    fn give(&self, partition: i32, task: Task) -> bool {
        let workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(hand) = workers.get(&partition) else {
            return false;
        };
        let count = hand.in_hand.fetch_add(1, Ordering::AcqRel) + 1;
        let _ = hand.queue.send(task);
        count == QUEUE_LIMIT
    }
}

/// Works through the topic until `stop`. A broker may come later than the service.
pub async fn consume(
    config: KafkaConfig,
    downstream: Arc<Downstream>,
    stats: Arc<Stats>,
    mut stop: watch::Receiver<bool>,
) -> Result<()> {
    let session_ms = config.session_timeout.as_millis();
    let group = Group {
        config: config.clone(),
        downstream,
        stats,
        consumer: OnceLock::new(),
        workers: Mutex::default(),
    };
    let consumer: Arc<StreamConsumer<Group>> = Arc::new(
        ClientConfig::new()
            .set("bootstrap.servers", &config.bootstrap)
            .set("group.id", &config.group)
            .set("auto.offset.reset", "earliest")
            .set("enable.auto.commit", "false")
            .set("session.timeout.ms", session_ms.to_string())
            .set("heartbeat.interval.ms", (session_ms / 5).to_string())
            .set("reconnect.backoff.max.ms", "1000")
            .set_log_level(RDKafkaLogLevel::Warning)
            .create_with_context(group)?,
    );
    let group = Arc::clone(consumer.context());
    let _ = group.consumer.set(Arc::downgrade(&consumer));
    consumer.subscribe(&[&config.topic])?;
    loop {
        let received = tokio::select! {
            received = consumer.recv() => received,
            _ = stop.wait_for(|stopping| *stopping) => break,
        };
        match received {
            Ok(message) => {
                let task = Task {
                    offset: message.offset(),
                    payload: message.payload().unwrap_or_default().to_vec(),
                };
                if group.give(message.partition(), task) {
                    let mut paused = TopicPartitionList::new();
                    paused.add_partition(message.topic(), message.partition());
                    consumer.pause(&paused)?;
                }
            }
            Err(error) => tracing::warn!(%error, "poll failed"),
        }
    }
    group.dismiss(None).await;
    // Closing leaves the group, and waits for the broker's answer.
    tokio::task::spawn_blocking(move || drop(consumer)).await?;
    Ok(())
}

fn numbers(partitions: &TopicPartitionList) -> Vec<i32> {
    partitions
        .elements()
        .iter()
        .map(|p| p.partition())
        .collect()
}
