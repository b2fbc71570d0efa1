-- The log. revision counts from 1 without gaps; body is the event's JSON; text
-- is the SHA-256 of the schema text that the event has, or null.
CREATE TABLE events (
	revision INTEGER PRIMARY KEY,
	time     INTEGER NOT NULL, -- milliseconds since 1970, UTC
	actor    TEXT    NOT NULL,
	request  TEXT    NOT NULL,
	kind     TEXT    NOT NULL,
	body     TEXT    NOT NULL,
	text     BLOB
) STRICT;

-- Every text once, beside the log, so that it can be erased while its events stay.
CREATE TABLE texts (
	hash BLOB PRIMARY KEY,
	text TEXT NOT NULL
) STRICT;

-- The newest folded state: one row.
CREATE TABLE snapshots (
	one      INTEGER PRIMARY KEY CHECK (one = 1),
	revision INTEGER NOT NULL,
	state    BLOB    NOT NULL
) STRICT;
