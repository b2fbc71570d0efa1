CREATE PUBLICATION cartorio_outbox FOR TABLE cartorio_outbox WITH (publish = 'insert');
SELECT pg_create_logical_replication_slot('cartorio_outbox', 'pgoutput');
