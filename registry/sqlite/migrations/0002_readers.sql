-- What consumers told that they read, beside the log: a declaration is the row
-- with version 0, each version of which messages came has a row of its own.
CREATE TABLE readers (
	context     TEXT    NOT NULL,
	subject     TEXT    NOT NULL,
	environment TEXT    NOT NULL,
	consumer    TEXT    NOT NULL,
	accepts     TEXT    NOT NULL,
	pinned      INTEGER NOT NULL,
	version     INTEGER NOT NULL,
	at          INTEGER NOT NULL, -- milliseconds since 1970, UTC
	accepted    INTEGER NOT NULL,
	rejected    INTEGER NOT NULL,
	PRIMARY KEY (context, subject, environment, consumer, accepts, pinned, version)
) STRICT, WITHOUT ROWID;
