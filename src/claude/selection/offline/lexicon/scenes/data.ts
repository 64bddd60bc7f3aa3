/** Where data lies, how it gets there, and how it goes wrong. */
import type { Topics } from "../topics.ts";

export const DATA_SCENES: Topics = {
  "jobs at night": `cron, cron job, cronjob, nightly, nightly job, nightly import, scheduled job, scheduler, schedule,
    airflow, dag, prefect, dagster, luigi, quartz, batch job, batch, batches, overnight, over night, still running,
    runs until noon, lunchtime, morning, did not run, runs twice, missed run, backfill, every night, at 3 am, job
    runner, task runner, background job, background jobs, retry forever, batch window`,
  "slow loading of data": `bulk insert, bulk load, copy in batches, row-by-row, row by row, insert, inserts, upsert,
    etl, elt, load, erp load, import, ingestion, ingest, staging table, data load, loader, csv import, fivetran,
    airbyte, chunk size, import takes, import is slow, takes hours, hours to load, commit size, merge into, initial
    load`,
  "slow questions": `slow query, slow queries, slow sql, query plan, explain analyze, explain, full table scan, seq
    scan, sequential scan, missing index, add an index, index, indexes, composite index, covering index, n+1, n plus
    one, eager loading, lazy loading orm, query count, hundreds of queries, too many queries, joins, query time,
    report takes, takes minutes, vacuum, statistics, select *, materialized view, dataloader, prefetch_related,
    includes`,
  "locked rows": `deadlock, deadlocks, lock wait, row lock, select for update, for update, isolation level,
    serializable, serialization failure, sqlstate 40001, 40001, ora-00060, lock timeout, advisory lock, long
    transaction, blocked by, waiting for lock, transaction, transactions, savepoint, rollback, atomic, atomically, all
    or nothing, half written, halfway, partial write, race, race condition, oversell, concurrency, compare and swap,
    optimistic locking, saga, two-phase commit, debit and credit`,
  "changing tables": `migration, migrations, schema migration, alter table, add column, new column, rename column,
    column names, drop column, add_column, flyway, liquibase, alembic, knex, prisma migrate, backfill, default value,
    not null, foreign key, fk, on delete, cascade, primary key, primary keys, uuid, uuid keys, bigint, enum type,
    table rename, schema change, rename everywhere, tbl, constraint, unique constraint, integrity, expand contract,
    users table, nullable`,
  "copies of the database": `replica, replicas, read replica, replication, replication lag, failover, standby,
    primary, leader, follower, patroni, sharding, shard, shards, galera, change data capture, cdc, debezium,
    goldengate, wal, logical replication, stale reads, read after write, split brain, quorum, raft, paxos, leader
    election, consensus`,
  backups: `backup, backups, back up, restore, restoring, snapshot, snapshots, pg_dump, dump, point in time, pitr,
    disaster recovery, dr, restic, borg, velero, retention of backups, data loss, lost all data, recover, rto, rpo,
    off-site, restore test, barman, tape`,
  "database servers": `postgres, postgresql, mysql, mariadb, oracle, sql server, sqlite, mongodb, cassandra,
    clickhouse, cockroachdb, redis, dynamodb, firestore, neo4j, timescale, influxdb, pgbouncer, connection pool, too
    many connections, pool exhausted, hikari, max_connections, major upgrade, pg_upgrade, vacuum, autovacuum, bloat,
    tablespace, partition, partitions, partitioning, ora, undo retention, ora-01555, snapshot too old`,
  "stale answers": `cache, caching, cached, stale, stale data, stale cache, old data, old values, outdated,
    yesterday's data, invalidate, invalidation, cache invalidation, purge, cdn purge, ttl, time to live, etag,
    cache-control, varnish, redis cache, memcached, cache key, cache hit, cache miss, eviction, evict, lru, stampede,
    thundering herd, still see the old, changes show up late, hard refresh, ctrl-f5, warm cache, memoize, newest are
    absent, not up to date`,
  "one-way data": `data warehouse, warehouse tables, snowflake, bigquery, redshift, databricks, dbt, spark, delta
    lake, iceberg table, data lake, lakehouse, parquet, hive, trino, presto, star schema, fact table, fct, dim,
    dimension, dimensions, slowly changing dimension, scd, scd2, grain, valid_from, valid_to, surrogate key, data
    mart, looker, tableau, power bi, metabase, superset, semantic layer, data model, bi, medallion, lineage, data
    catalog, data quality, great expectations, freshness, small files, compaction, partition pruning, keep the history`,
  "figures for managers": `report, reports, reporting, dashboard, kpi, kpis, revenue report, sales figures, figures,
    numbers are wrong, management, board meeting, monthly report, export to excel, csv export, export csv, pivot,
    analytics, conversion funnel, cohort, retention curve, active users, dau, mau, numbers differ, do not match`,
  "streams of data": `stream processing, flink, kafka streams, spark streaming, kinesis, watermark, late events,
    windowing, tumbling window, event time, exactly once, state store, rocksdb, beam, dataflow, event stream,
    clickstream, out-of-order events`,
  "reading odd files": `csv, csv import, delimiter, semicolon, quoting, xml, json, yaml, parquet, excel import, xlsx
    import, fixed width, edi, edifact, parser error, malformed rows, bom, header row, column mapping, import wizard,
    data import, skip duplicates, duplicates, mapping file, rota from xlsx`,
  "made-up data": `seed, seed data, seed script, fixtures, factory, faker, demo data, demo accounts, test data, sample
    data, dummy data, mock data, staging database, anonymised dump, reset the local environment, testcontainers, mock
    server, wiremock, msw`,
  "same thing booked twice": `double booking, double bookings, booked twice, same seat, same slot, same room, two
    people got, unique constraint, exclusion constraint, unique index, duplicate key, race between, check then insert,
    upsert, on conflict, locking, taken already, overlapping reservations, overlaps`,
  "bank files": `pain.001, camt, iso 20022, sepa xml, mt940, payment file, bank rejects the file, ebics, swift
    message, bank file, nacha, direct debit mandate, mandate`,
  "numbers from last month": `reproduce, reproducible, snapshot of data, versioned data, dvc, time travel, as of,
    historical, bitemporal, audit of figures, restate, restatement, last month's numbers`,
  "wrong totals": `totals wrong, double counted, counted twice, double counting, fan-out join, duplicates in join,
    distinct, aggregation, group by, sum wrong, off by one, off-by-one, inclusive, exclusive, boundary, wrong count,
    stale numbers, counter drift, returns stale`,
  "bad records": `junk rows, malformed, malformed records, bad rows, dirty data, invalid rows, quarantine, skip bad,
    one bad row, whole batch fails, falling over, aborting the whole batch, validation of imports, schema check,
    reject file, data contract, encoding of the csv, null values`,
  "old records go": `retention, retention policy, purge, purge documents, legal hold, archive, archiving, archival,
    delete old data, older than, seven years, after two years, housekeeping, cleanup job, data minimisation, expire
    records, disappear automatically, ttl index, drop partitions, table grows, table too big`,
  "too many connections": `too many connections, connection pool, pool exhausted, connections leak, idle in
    transaction, pgbouncer, hikari, connection leak, cannot get a connection, remaining connection slots,
    max_connections, open handles, too many open files, emfile, file descriptors, ulimit`,
  "data in two places": `sync between systems, out of sync, master data, mdm, single source of truth, duplicates of
    customers, merge duplicates, duplicate contacts, record linkage, golden record, entity resolution, same customer
    twice, deduplication`,
  "search index behind": `reindex, search reindex, index rebuild, index lags, new items not found, not searchable,
    cannot be found, indexing job, elasticsearch index, alias swap, bulk indexing, mapping change, missing from search`,
};
