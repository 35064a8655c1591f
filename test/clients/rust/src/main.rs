//! Makes the calls of axiom-rs's own tests of datasets and cursors, which its release leaves out, and the other documented ones.
//! Prints a line for each: `pass NAME` or `fail NAME: why`.

use axiom_rs::annotations::requests::{Create, List};
use axiom_rs::datasets::{ContentEncoding, ContentType, QueryOptions};
use axiom_rs::Client;
use chrono::{Duration, Utc};
use serde_json::{json, Value};
use std::error::Error;
use std::fmt::Debug;

type Outcome = Result<(), Box<dyn Error>>;

const DATASET: &str = "axiom-rs";
const PAYLOAD: &str = r#"[{"time":"17/May/2015:08:05:30 +0000","remote_ip":"93.180.71.1","response":304},
{"time":"17/May/2015:08:05:31 +0000","remote_ip":"93.180.71.2","response":304}]"#;

fn same<T: PartialEq + Debug>(found: T, expected: T) -> Outcome {
    if found == expected {
        return Ok(());
    }
    Err(format!("{found:?} is not {expected:?}").into())
}

/// The last hour, as a busy machine takes minutes, and some of the next.
fn recent() -> QueryOptions {
    QueryOptions {
        start_time: Some(Utc::now() - Duration::hours(1)),
        end_time: Some(Utc::now() + Duration::minutes(20)),
        ..Default::default()
    }
}

async fn create(client: &Client) -> Outcome {
    let made = client.datasets().create(DATASET, "bar").await?;
    same((made.name.as_str(), made.description.as_str()), (DATASET, "bar"))
}

async fn update(client: &Client) -> Outcome {
    let changed = client.datasets().update(DATASET, "soon filled").await?;
    same(changed.description.as_str(), "soon filled")?;
    same(client.datasets().get(DATASET).await?.description, changed.description)
}

async fn list(client: &Client) -> Outcome {
    let all = client.datasets().list().await?;
    same(all.iter().filter(|each| each.name == DATASET).count(), 1)
}

async fn ingest_bytes(client: &Client) -> Outcome {
    let status = client
        .ingest_bytes(DATASET, PAYLOAD, ContentType::Json, ContentEncoding::Identity)
        .await?;
    same((status.ingested, status.failed, status.failures.len()), (2, 0, 0))?;
    same(status.processed_bytes, PAYLOAD.len() as u64)
}

async fn ingest(client: &Client) -> Outcome {
    let events: Vec<Value> = serde_json::from_str(PAYLOAD)?;
    let status = client.ingest(DATASET, &events).await?;
    same((status.ingested, status.failed), (2, 0))
}

async fn ingest_stream(client: &Client) -> Outcome {
    let events: Vec<Value> = serde_json::from_str(PAYLOAD)?;
    let stream = futures::stream::iter(events.into_iter().cycle().take(4321));
    let status = client.ingest_stream(DATASET, stream).await?;
    same((status.ingested, status.failed), (4321, 0))
}

/// Events whose field `time` is old are of now.
async fn query(client: &Client) -> Outcome {
    let found = client.query(&format!("['{DATASET}']"), recent()).await?;
    same((found.status.rows_matched, found.tables[0].len()), (4325, 1000))?;
    same(found.trace_id.is_some(), true)
}

async fn query_groups(client: &Client) -> Outcome {
    let apl = format!(
        "['{DATASET}'] | where response == 304 | summarize n = count() by remote_ip | sort by remote_ip asc"
    );
    let found = client.query(&apl, recent()).await?;
    let counts = found.tables[0].iter().map(|row| row.get_field("n").cloned());
    same(counts.collect::<Vec<_>>(), vec![Some(json!(2163)), Some(json!(2162))])
}

async fn query_of_no_dataset(client: &Client) -> Outcome {
    match client.query("['nope']", recent()).await {
        Ok(_) => Err("it is answered".into()),
        Err(error) => same(error.to_string().contains("nope"), true),
    }
}

/// A thousand events a second apart, in two pages: the second begins behind the last row of the first.
async fn cursor(client: &Client) -> Outcome {
    let name = "axiom-rs-cursor";
    client.datasets().create(name, "").await?;
    let start = Utc::now();
    let events: Vec<Value> = (0..1000)
        .map(|n| json!({"_time": start + Duration::seconds(n), "n": n}))
        .collect();
    client.ingest(name, &events).await?;
    let apl = format!("['{name}'] | sort by _time desc | limit 500");
    let first = client.query(&apl, recent()).await?;
    let cursor = first.status.min_cursor.clone();
    let second = client.query(&apl, QueryOptions { cursor, ..recent() }).await?;
    let rows = [&first, &second].into_iter().flat_map(|page| page.tables[0].iter());
    let found: Vec<_> = rows.map(|row| row.get_field("n").cloned()).collect();
    same(found, (0..1000).rev().map(|n| Some(json!(n))).collect())
}

/// The row of a cursor by its own field, as the tests of the client ask for it.
async fn cursor_field(client: &Client) -> Outcome {
    let options = QueryOptions { include_cursor_field: true, ..recent() };
    let found = client.query("['axiom-rs-cursor'] | limit 1", options).await?;
    let cursor = found.tables[0].iter().next().and_then(|row| row.get_field("_cursor").cloned());
    same(cursor.is_some(), true)
}

async fn annotations(client: &Client) -> Outcome {
    let wanted = Create::builder().with_type("deploy")?.with_datasets(vec![DATASET.into()])?;
    let made = client.annotations().create(wanted.with_title("v1").build()).await?;
    let of_dataset = List::builder().with_datasets(vec![DATASET.into()]).build();
    same(client.annotations().list(of_dataset).await?.len(), 1)?;
    let id = &made.id;
    same(&client.annotations().get(id).await?.id, id)?;
    Ok(client.annotations().delete(id).await?)
}

async fn user(client: &Client) -> Outcome {
    same(client.users().current().await?.name.as_str(), "local")
}

async fn dashboards(client: &Client) -> Outcome {
    same(client.dashboards().list().await?.len(), 0)
}

async fn delete(client: &Client) -> Outcome {
    client.datasets().delete(DATASET).await?;
    same(client.datasets().get(DATASET).await.is_err(), true)
}

macro_rules! run {
    ($client:expr, $($call:ident),+) => {
        $(match $call(&$client).await {
            Ok(()) => println!("pass {}", stringify!($call)),
            Err(error) => println!("fail {}: {}", stringify!($call), error.to_string().replace('\n', " ")),
        })+
    };
}

#[tokio::main]
async fn main() -> Outcome {
    let client = Client::builder()
        .with_url(std::env::var("AXIOM_URL")?)
        .with_token(std::env::var("AXIOM_TOKEN")?)
        .build()?;
    run!(
        client, create, update, list, ingest_bytes, ingest, ingest_stream, query, query_groups,
        query_of_no_dataset, cursor, cursor_field, annotations, user, dashboards, delete
    );
    Ok(())
}
