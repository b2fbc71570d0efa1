# shellcheck shell=bash
# Kafka from its Maven jars: one node, its own controller, Java 17. Sets
# CARTORIO_TEST_KAFKA, host:port, CARTORIO_TEST_KAFKA_SASL, that of the listener
# that asks for a user (PLAIN: cartorio with the password s:cret), and
# CARTORIO_TEST_KAFKA_PID for tests that pause the broker. The jars are kept in
# the user's cache folder. KAFKA_VERSION names another version.

# kafka_libs prints the folder of the jars, and fetches them the first time.
kafka_libs() {
  local version=${KAFKA_VERSION:-4.1.2} libs work
  libs=${XDG_CACHE_HOME:-$HOME/.cache}/cartorio/kafka-$version
  if [ ! -d "$libs" ]; then
    # Any JDK will do; a package of its own is installed only where there is none.
    command -v java >/dev/null || need openjdk-17-jre-headless || return 1
    command -v mvn >/dev/null || need maven || return 1
    say "fetching Kafka $version"
    mkdir -p "${libs%/*}"
    work=$(mktemp -d "$libs.XXXXXX")
    cat > "$work/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
  <groupId>cartorio</groupId><artifactId>brokers</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$version</version></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>2.25.3</version></dependency>
  </dependencies>
</project>
POM
    if ! mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$work/libs" >&2; then
      say "NOT AVAILABLE: the jars of Kafka $version could not be fetched"
      rm -rf "$work"
      return 1
    fi
    # Another start may have been quicker; the jars are the same.
    mv -T "$work/libs" "$libs" 2>/dev/null || true
    rm -rf "$work"
  fi
  echo "$libs"
}

# kafka_answers tells whether metadata lists a broker: the port opens before.
# The request is Metadata version 7 with no topics, in which the count of brokers
# is the fourth number of the answer.
kafka_answers() { # PORT
  local answer
  exec 3<>"/dev/tcp/127.0.0.1/$1" || return 1
  printf '\0\0\0\x0f\0\x03\0\x07\0\0\0\x01\xff\xff\0\0\0\0\0' >&3
  answer=$(timeout 2 head -c 16 <&3 | od -An -tx1 | tr -d ' \n')
  exec 3>&-
  [ "${answer:24}" = 00000001 ]
}

start_kafka() { # FOLDER
  local libs port controller sasl home=$1/kafka
  libs=$(kafka_libs) || return 1
  for _ in 1 2 3; do # a port may be taken between the look and the start
    rm -rf "$home"
    mkdir -p "$home"
    port=$(free_port) && controller=$(free_port) && sasl=$(free_port) || return 1
    # Internal topics of one partition, groups that begin at once and short silences
    # save seconds, the last of them when a killed broker comes back.
    cat > "$home/server.properties" <<CONF
process.roles=broker,controller
node.id=1
listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller,SASL_PLAINTEXT://127.0.0.1:$sasl
advertised.listeners=PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller,SASL_PLAINTEXT://127.0.0.1:$sasl
controller.quorum.voters=1@127.0.0.1:$controller
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_cartorio="s:cret";
listener.name.sasl_plaintext.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl_plaintext.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
log.dirs=$home/data
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
group.min.session.timeout.ms=1000
broker.session.timeout.ms=3000
broker.heartbeat.interval.ms=500
offsets.topic.num.partitions=1
transaction.state.log.num.partitions=1
auto.create.topics.enable=false
CONF
    cat > "$home/log4j2.properties" <<'CONF'
status=error
rootLogger.level=warn
rootLogger.appenderRef.out.ref=out
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern=%d %p %m (%c)%n%throwable
CONF
    echo "$sasl" > "$home/sasl"
    kafka_run "$home" "$libs" "$port" && return
    stop_kafka "$1"
  done
  say 'NOT AVAILABLE: Kafka could not be started'
  return 1
}

# kafka_run formats the data where there is none, starts the broker, waits until
# it answers and prints its settings.
kafka_run() { # HOME LIBS PORT
  local pid java=(java -Xms256m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "-Dlog4j2.configurationFile=$1/log4j2.properties" -cp "$2/*")
  if [ ! -d "$1/data" ] && ! "${java[@]}" kafka.tools.StorageTool format -t Y2FydG9yaW8tY2FydG9yaQ -c "$1/server.properties" > "$1/out" 2>&1; then
    say "Kafka could not format its data; the log ends:"
    tail -20 "$1/out" >&2
    return 1
  fi
  setsid "${java[@]}" kafka.Kafka "$1/server.properties" >> "$1/out" 2>&1 < /dev/null &
  pid=$!
  record "$pid" "$1/pid"
  if ! await "$pid" kafka_answers "$3"; then
    say "Kafka did not answer on its port $3; its log ends:"
    tail -20 "$1/out" >&2
    return 1
  fi
  echo "export CARTORIO_TEST_KAFKA=127.0.0.1:$3 CARTORIO_TEST_KAFKA_SASL=127.0.0.1:$(cat "$1/sasl") CARTORIO_TEST_KAFKA_PID=$pid"
}

# restart_kafka stops the broker if it runs and starts it on the same data and port.
restart_kafka() { # FOLDER
  local libs port
  stop_kafka "$1"
  libs=$(kafka_libs) || return 1
  port=$(sed -n 's/^advertised.listeners=PLAINTEXT:[^:]*:\([0-9]*\),.*/\1/p' "$1/kafka/server.properties")
  kafka_run "$1/kafka" "$libs" "$port"
}

stop_kafka() { # FOLDER
  local pid
  pid=$(recorded "$1/kafka/pid") || return 0
  kill -CONT "$pid" 2>/dev/null || return 0 # a test may have paused it
  end "$pid"
}
