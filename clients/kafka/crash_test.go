package kafka_test

import "os"

const partVariable = "CARTORIO_TEST_KAFKA_PART"

// isLong asks for the long forms of outages and crashes.
var isLong = os.Getenv("CARTORIO_TEST_LONG") != ""

func play(string) int { return 64 }
