/** Keeping software running: servers, queues, networks, messages. */
import type { Topics } from "../topics.ts";

export const RUNNING_SCENES: Topics = {
  "traffic peaks": `traffic spike, traffic spikes, peak, peaks, rush, rush hour, black friday, autoscaling, autoscale,
    autoscaled, autoscaler, scale out, scale up, scaling group, hpa, keda, karpenter, extra boxes, more servers, more
    machines, boxes, new instances, boot time, boot duration, warm pool, warm-up, ami, packer, user data, cold start,
    cold starts, provisioned concurrency, lambda, serverless, cloud run, load test, k6, capacity, overload,
    overloaded, too many visitors, bursts, ec2`,
  "cloud bill": `aws bill, cloud bill, cloud cost, cloud costs, costs too much, cost, costs, spend, spending, bill is
    huge, expensive, save money, cheaper, savings plan, reserved instances, spot instances, spot, rightsizing,
    right-size, idle instances, unused volumes, glacier, lifecycle policy, s3 lifecycle, storage class, egress, nat
    gateway, cost explorer, finops, kubecost, budget alert, cut our bill, invoice from amazon, shut down at night,
    oversized`,
  cloud: `aws, amazon, ec2, s3, rds, lambda, ecs, eks, fargate, cloudfront, route53, sqs, sns, dynamodb, iam, gcp,
    google cloud, gke, bigquery, pubsub, azure, aks, blob storage, bicep, digitalocean, hetzner, heroku, vercel,
    netlify, fly.io, cloudflare, region, availability zone, vpc`,
  "infrastructure code": `terraform, opentofu, pulumi, cloudformation, cdk, ansible, puppet, chef, salt,
    infrastructure as code, iac, terraform state, state file, state lock, remote state, drift, plan output, module,
    tfvars, hcl, playbook, provision, bicep, crossplane, terragrunt`,
  kubernetes: `kubernetes, k8s, kubectl, pod, pods, node pool, deployment, statefulset, daemonset, helm, helm chart,
    kustomize, ingress, configmap, liveness, readiness, probe, probes, crashloopbackoff, evicted, oomkilled, memory
    limits, resource limits, requests and limits, namespace, cluster, operator, crd, sidecar, istio, service mesh,
    argo, argocd, gitops, flux, rollout, node drain, taints, kubelet, etcd, keeps restarting`,
  containers: `docker, dockerfile, container, container image, docker image, image size, base image, alpine,
    distroless, multi-stage, layer cache, docker-compose, compose file, registry, ecr, podman, buildkit, entrypoint,
    exec format error, arm64 image, devcontainer, codespaces, volume mount, port mapping, shrink image`,
  "going live": `deploy, deployment, deployments, deploying, go live, going live, ship, shipping a version, release,
    rollout, roll out, gradual rollout, canary, blue green, blue-green, zero downtime, maintenance window, downtime
    during deploy, rollback, roll back, previous version, hotfix, release train, production push, staged, promote,
    preview environment, deploy preview, outage while deploying, undo the release`,
  "switches in code": `feature flag, feature flags, feature toggle, feature toggles, toggle, flag, launchdarkly,
    unleash, flipt, growthbook, kill switch, gradual rollout, percentage rollout, remove flag, behind a flag, dark
    launch, experiment, variant, code paths, 100 percent, enabled for, both code paths`,
  "dead letters": `dlq, dead letter, dead letter queue, dead-letter, dead letters, poison message, poison messages,
    poison pill, parked, parking lot, redrive, replay, replayable, reprocess, repeatedly fail, failed messages, failed
    deliveries, undeliverable, messages pile up, give up after, requeue, error queue`,
  queues: `queue, queues, message queue, message broker, kafka, rabbitmq, sqs, pubsub, nats, redis streams, activemq,
    service bus, consumer, consumers, consumer group, producer, topic, partition, partitions, offset, offsets,
    consumer lag, lag, falls behind, fall behind, how far behind, backlog, backpressure, rebalance, ack, at least
    once, exactly once, message order, out of order, bullmq, sidekiq, celery, resque, messages are lost, log end,
    brokers, pile up, piling up`,
  "disk full": `disk full, no space left, enospc, disk usage, disk space, full disk, out of space, log rotation,
    logrotate, rotatelogs, rotate logs, old logs, tmp files, inode, inodes, prune images, volume full, free up space,
    /var/log, cleanup job, partition full, fills up, quota exceeded on disk`,
  "memory grows": `memory leak, leak, leaks, leaking, memory grows, keeps growing, heap keeps growing, growing heap,
    ram, eats ram, out of memory, oom, oom killed, oomkilled, heap dump, heap snapshot, valgrind, asan, address
    sanitizer, leakcanary, retained, not freed, never freed, dangling, event listeners piling, after two days, uptime,
    restart every, swap, gets slower and slower, rss, gigabytes of memory, garbage, fragmentation, freezes after,
    power cycle, must be restarted, reconnect loop`,
  "garbage collection": `gc, garbage collection, garbage collector, gc pause, gc pauses, pauses, stop the world, stops
    the world, zgc, g1, shenandoah, young generation, heap size, xmx, gc tuning, allocation rate, object pool,
    allocations, generational, mark and sweep`,
  "hung processes": `hangs, hang, hanging, freezes, freeze, frozen, stuck, unresponsive, not responding, does not
    respond, deadlock, blocked thread, thread dump, thread pool, threads exhausted, starvation, event loop blocked,
    spinning, 100% cpu, zombie process, zombies, timeout, timeouts, time out, kill hanging, watchdog, livelock,
    infinite loop, endless loop, never returns, waits forever`,
  crashes: `crash, crashes, crashed, segfault, segmentation fault, sigsegv, core dump, null pointer,
    nullpointerexception, npe, null dereference, undefined is not a function, stack trace, stacktrace, unhandled
    exception, unhandled rejection, panic, panics, abort, assertion failed, dies, dying, use after free, buffer
    overflow, out of bounds, index out of range, stack overflow, double free, null handle, division by zero, by zero,
    access violation`,
  "hearing about trouble": `alert, alerts, alerting, alarm, alarms, pager, pagerduty, opsgenie, on-call, oncall, woken
    up, wake up at night, false alarm, false alarms, noisy alerts, alert fatigue, alertmanager, incident, incidents,
    status page, statuspage, uptime, monitoring, monitor, nobody noticed, find out from customers, slo, sla, error
    budget, burn rate, escalation, silence, alert routing, notified when`,
  "numbers about servers": `metric, metrics, prometheus, grafana, exporter, scrape, collector, dashboard, dashboards,
    statsd, datadog, new relic, cloudwatch, gauge, counter, histogram, percentile, p99, p95, opentelemetry, otel,
    telegraf, graphite, thanos, mimir, cardinality, time series, request rate, /metrics`,
  "following a request": `trace, tracing, traces, distributed tracing, span, spans, jaeger, zipkin, tempo,
    opentelemetry, trace id, correlation id, request id, x-request-id, sampling, propagate context, which service is
    slow, follow a request, honeycomb, apm`,
  logs: `log, logs, logging, logger, log level, structured logs, json logs, log lines, log noise, noisy logs, elk,
    kibana, loki, splunk, fluentd, fluent bit, logstash, winston, pino, log4j, logback, slf4j, serilog, stdout, debug
    output, swallowed exception, sensitive data in logs, print statements, sentry, error tracking, bugsnag, rollbar`,
  "asking again": `retry, retries, retrying, backoff, exponential backoff, jitter, circuit breaker, resilience4j,
    polly, third party down, third-party down, vendor down, provider down, fallback, degrade, graceful degradation,
    hiccup, transient, flaky network, bulkhead, timeout, hedged, try again later, unreachable, downstream, upstream
    outage`,
  "stopping cleanly": `graceful shutdown, shutdown, sigterm, sigint, drain, draining, in-flight, in flight requests,
    requests cut off, dropped during deploy, prestop, kill signal, connection draining, stop accepting, cut off mid,
    aborts running`,
  webhooks: `webhook, webhooks, callback, callbacks, event delivery, deliveries, outgoing hooks, hook endpoint,
    signature of webhook, partner gets notified, partner system, third party notified, redeliver, redelivery,
    subscription url, callback url, push to partner, http callback`,
  endpoints: `endpoint, endpoints, rest, rest api, route, controller, request body, payload, status code, 500, 404,
    400, bad request, internal server error, openapi, swagger, api client, sdk, http method, post, put, patch, query
    parameter, json response, response field, fastapi, express, spring boot, django, flask, rails, laravel, nestjs,
    asp.net, gin, api version, breaking change, versioning, deprecate`,
  graphql: `graphql, resolver, resolvers, apollo, schema stitching, federation, mutation, query depth, persisted
    query, relay, n+1 in resolvers, gql, graphiql, over-fetching, hasura`,
  "between services": `grpc, protobuf, proto, rpc, thrift, microservice, microservices, service mesh, envoy, istio,
    linkerd, service discovery, consul, api gateway, gateway, kong, bff, monolith, split service, contract test, pact,
    internal api, message contract, avro, schema registry, event-driven, event naming, event sourcing, cqrs, domain
    events`,
  "live updates": `websocket, websockets, socket.io, sse, server-sent events, realtime, real-time, live updates, live
    update, without reloading, without reload, refresh by hand, press f5, f5, reload the page, polling, long polling,
    push updates, signalr, pusher, ably, reconnect, presence, connection drops, heartbeat, instant, shows up late,
    subscription channel, stream of events, auto refresh`,
  "names and routes": `dns, domain, domains, subdomain, nameserver, cname, a record, route53, load balancer, reverse
    proxy, nginx, haproxy, traefik, caddy, cloudflare, cdn, edge, bad gateway, 502, 504, 503, proxy_pass, upstream,
    x-forwarded-for, sticky session, health check, healthcheck, health endpoint, http2, http3, quic, ipv6, ingress,
    rewrite rule, redirects, keepalive, connection refused, econnrefused, econnreset, oauth proxy`,
  "cross-origin": `cors, cross-origin, preflight, access-control-allow-origin, options request, blocked by cors,
    same-origin, credentials include, origin header, other domain`,
  "environment values": `environment variable, environment variables, env var, env vars, config file, configuration,
    configurable, hardcoded, hard-coded, hard coded, magic number, dotenv, settings file, config map, twelve-factor,
    per environment, staging config, appsettings, yaml config, toml, default value, cfg, make it configurable,
    threshold configurable, constants`,
  "file storage": `object storage, s3, bucket, buckets, minio, blob, gcs, presigned, file store, ftp, sftp, nfs,
    network share, file server, smb, dropbox, google drive, onedrive, webdav, storage class, multipart upload, cold
    storage, archive tier`,
  "sending mail": `email, e-mail, mail, mails, mailer, smtp, smtp relay, relay, sendgrid, mailgun, postmark, ses,
    mailjet, spam folder, lands in spam, junk, dkim, spf, dmarc, bounce, bounces, deliverability, mail template, mjml,
    email template, mail footer, reply-to, never receive, does not arrive, arrives late, inbox, outlook, gmail, imap,
    exchange, attachments in mails, unsubscribe link, transactional mail, mail queue`,
  "text messages": `sms, text message, text messages, twilio, vonage, messagebird, sender id, whatsapp, whatsapp
    business, telegram, telegram bot, slack, slack bot, teams, ms teams, discord, bot, chatbot, reminder by sms, phone
    number, viber, signal messenger`,
  chat: `chat, chat widget, messenger, message, messages, conversation, direct message, group chat, typing indicator,
    read receipts, unread, emoji reaction, thread, threads, mention, live chat, canned answers, support chat, message
    history, chat room, waiting time, queue position`,
  helpdesk: `support desk, help desk, helpdesk, ticket, tickets, ticket assignment, assign, assigned, assigns,
    round-robin, round robin, dispatch, agent, agents, zendesk, freshdesk, jira service, intercom, sla of tickets,
    customer service, call centre, call center, support team, canned response, escalate, first response, support
    calls, hotline, two people work on the same, complaint`,
  "calls and meetings": `voip, sip, webrtc, video call, video calls, meeting, zoom meeting, conference, screen
    sharing, echo, echo cancellation, jitter buffer, turn server, stun, ice candidate, call quality, dial, voicemail,
    ivr, call recording, softphone, asterisk, freeswitch, microphone muted, robot voice`,
  calendars: `calendar, ical, ics, caldav, calendar feed, subscribe calendar, google calendar, outlook calendar,
    recurring event, rrule, recurrence, invite, meeting invite, free busy, availability, agenda, timetable export,
    schedule export, all-day`,
  "speed of the server": `response time, latency, p99, slow api, slow endpoint, profiling, profiler, py-spy, flame
    graph, async-profiler, pprof, hot path, cpu profile, benchmark, benchmarks, throughput, bottleneck, requests per
    second, connection reuse, keep-alive, gzip response, batch requests, performance regression, takes seconds`,
  "other people's pages": `see other people's cart, wrong user's data, mixed up accounts, cached response,
    cache-control private, vary header, cdn caches, shared cache, session mix-up, global variable, thread local,
    request scope, leaks between requests, cross-tenant`,
  "logs too expensive": `log volume, log cost, datadog bill, sampling logs, log retention, cardinality, too many logs,
    gigabytes of logs, drop debug logs, observability cost, fortune`,
  "idle but busy": `busy loop, busy wait, spin lock, spinning, polling loop, eats all cores, fan is loud, cpu while
    idle, 100 percent cpu, one core, event loop, sleep in loop, tight loop, high load, cpu usage, hogs`,
  "stops at a thousand": `stops at 1000, only first page, limit 1000, pagination, paginate, cursor, next page token,
    page size, offset limit, incomplete export, missing rows, truncated export, fetch all, result limit, lists 10
    only, keyset, infinite scroll api, first 100 only`,
  "try without breaking": `staging, staging environment, sandbox, preview environment, test environment, ephemeral
    environments, review app, demo environment, without breaking prod, playground, production-like`,
  "locking of jobs": `runs twice, two instances, leader election, distributed lock, redlock, single instance,
    shedlock, cron runs on every pod, only once, exactly one, duplicate jobs, sms delivered twice, sent twice, mails
    twice, twice at night, dedupe worker, outbox pattern, transactional outbox, inbox table`,
  "events lost": `lost events, lose events, events go missing, lose the last, last few events, buffer flush, flush on
    exit, flush, at rollout, on every rollout, sigterm, graceful exit, in-memory buffer, fire and forget, acks,
    durability, fsync, write ahead, drops messages`,
  "bigger server": `bigger instance, instance type, vertical scaling, more ram, bigger database instance, resize,
    database instance, rds instance, cpu credits, burstable, iops, storage autoscaling, throughput of the disk`,
  "who calls whom": `rate of calls, third party api, api integration, partner api, connector, integration, sync with
    salesforce, zapier, oauth app, api credentials, polling api, incremental sync, delta sync, import contacts, sync
    contacts, field mapping, mapping, middleware`,
  "queue too long": `queue depth, backlog, unprocessed messages, queue length, alarm on queue, messages waiting, gets
    too long, sqs depth, age of oldest message, worker count, scale workers, more workers, backlog of jobs`,
  "tenants too loud": `noisy neighbour, noisy neighbor, one customer slows, fair queue, fairness, per tenant limit,
    quota per team, isolation, bulkhead, priority queue, starve, starvation, heavy user`,
  "time on servers": `ntp, clock skew, clock drift, leap second, monotonic, server time, timestamp off, chrony, time
    sync, token not yet valid, nbf`,
  "two data centres": `multi-region, active-active, failover, disaster, region outage, dr test, geo replication,
    latency between regions, data centre, anycast, global load balancing, standby region`,
  "mail bounce": `bounced, hard bounce, suppression list, complaint rate, sender reputation, warm up ip, blacklisted
    ip, rbl, catch-all`,
  "secrets to pods": `external secrets, sealed secret, vault agent, secret rotation, mounted secret, env from secret,
    plain configmap, kubernetes secret`,
  "server out of breath": `overloaded, falls over, goes down, site is down, unreachable, down every monday, on its
    knees, cannot cope, collapses, collapse under load, load shedding, backpressure, connection limit, worker
    processes, gunicorn, thread pool, max clients, queue requests, autoscale, circuit breaker`,
  "moving to another place": `migrate to, move to aws, move off heroku, cloud migration, lift and shift, switch
    provider, data centre move, replatform, from travis, from jenkins, migrate ci, migrate from, cut over, cutover`,
  "wrong place wrong time": `race condition, timing, sometimes, once in a while, sporadic, heisenbug, not thread-safe,
    thread safety, shared state, data race, synchronized, mutex, atomics, concurrent map, concurrent modification,
    order of events, out of order`,
  "api for others": `public api, developer portal, api keys, api docs, rate plan, sandbox keys, partners integrate,
    sdk, client library, openapi generator, postman, deprecation notice, breaking api change, api version, sunset`,
  "costs per customer": `usage metering, metering, usage-based, count api calls, billing per use, usage report, quota
    usage, metered billing, stripe meter, overage`,
  "small machines": `raspberry, edge device, edge gateway, gateway, on-prem box, appliance, thin client, fleet of
    devices, remote update, balena, offline installation`,
  "who broke it": `regression, bisect, since the update, since last release, worked before, stopped working, broken
    since, after the upgrade, since monday, after deploy, since yesterday's deploy, root cause, postmortem,
    post-mortem, incident review, five whys`,
  "setting of dates in jobs": `cron expression, time zone of cron, runs an hour late, summer time, schedule drift,
    next run, misfire, job calendar, bank holiday, business days, working days`,
  "files stuck": `file locked, file lock, sftp drop, watch folder, inbound folder, polling folder, half uploaded,
    partial file, rename when done, file transfer, edi file, archive folder, duplicate file`,
};
