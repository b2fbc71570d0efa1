#!/usr/bin/env bash
# Measures ways of acknowledging, and other levers, one at a time, on brokers of
# its own. With CARTORIO_TEST_RABBITMQ, CARTORIO_TEST_STOMP or CARTORIO_TEST_KAFKA
# set, those brokers are measured instead: yours.
#
#   scripts/bench-ack.sh                                the ways of acknowledging, on three brokers
#   scripts/bench-ack.sh --broker RabbitMQ --vary prefetch=1,2,16,64,250
#   scripts/bench-ack.sh --help                         what is held still, and what can be varied
exec "$(dirname "$0")/example.sh" acknowledgement rabbitmq activemq kafka -- "$@"
