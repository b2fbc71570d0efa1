# shellcheck shell=bash
# ActiveMQ Classic from its Maven jars, Java 17, with STOMP and AMQP 1.0; where
# they cannot be had, Debian's package, which has STOMP only. Sets
# CARTORIO_TEST_ACTIVEMQ and CARTORIO_TEST_STOMP, host:port of STOMP,
# CARTORIO_TEST_AMQP10, an amqp:// URL, when there is one, and
# CARTORIO_TEST_ACTIVEMQ_PID for tests that pause the broker. The jars are kept
# in the user's cache folder. ACTIVEMQ_VERSION names another version; "debian"
# takes the package. Whoever says no name is let in; the user cartorio has the
# password s:cret.

# activemq_libs prints the folder of the jars, and fetches them the first time.
activemq_libs() {
  local version=${ACTIVEMQ_VERSION:-6.3.1} libs work name
  [ "$version" != debian ] || return 1
  libs=${XDG_CACHE_HOME:-$HOME/.cache}/cartorio/activemq-$version-jaas
  if [ ! -d "$libs" ]; then
    # Any JDK will do; a package of its own is installed only where there is none.
    command -v java >/dev/null || need openjdk-17-jre-headless || return 1
    command -v mvn >/dev/null || need maven || return 1
    say "fetching ActiveMQ $version"
    mkdir -p "${libs%/*}"
    work=$(mktemp -d "$libs.XXXXXX")
    {
      echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
      echo '<groupId>cartorio</groupId><artifactId>brokers</artifactId><version>1</version><packaging>pom</packaging><dependencies>'
      for name in broker jaas kahadb-store stomp amqp spring console; do
        echo "<dependency><groupId>org.apache.activemq</groupId><artifactId>activemq-$name</artifactId><version>$version</version></dependency>"
      done
      # The broker leaves the choice of these two to whoever runs it.
      echo '<dependency><groupId>org.springframework</groupId><artifactId>spring-context</artifactId><version>7.0.8</version></dependency>'
      echo '<dependency><groupId>org.slf4j</groupId><artifactId>slf4j-simple</artifactId><version>2.0.18</version></dependency>'
      echo '</dependencies></project>'
    } > "$work/pom.xml"
    if ! mvn -q -B -f "$work/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$work/libs" >&2; then
      say "the jars of ActiveMQ $version could not be fetched"
      rm -rf "$work"
      return 1
    fi
    # Another start may have been quicker; the jars are the same.
    mv -T "$work/libs" "$libs" 2>/dev/null || true
    rm -rf "$work"
  fi
  echo "$libs"
}

start_activemq() { # FOLDER
  local libs='' stomp amqp connector='' jar home=$1/activemq
  if ! libs=$(activemq_libs); then
    say 'ActiveMQ is taken from the Debian package: NO AMQP 1.0, no test of it runs'
    command -v java >/dev/null || need default-jre-headless || return 1
    need activemq || return 1
    jar=$(dpkg -L libactivemq-java activemq | grep '/activemq/bin/activemq.jar$' | head -1)
    libs=
  fi
  for _ in 1 2 3; do # a port may be taken between the look and the start
    rm -rf "$home"
    mkdir -p "$home/tmp"
    stomp=$(free_port) && amqp=$(free_port) || return 1
    if [ -n "$libs" ]; then
      # shellcheck disable=SC2089 # XML
      connector="<transportConnector name=\"amqp\" uri=\"amqp://127.0.0.1:$amqp?transport.transformer=jms&amp;transport.wireFormat.idleTimeout=5000\"/>"
      printf '%s\n' java "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn" -cp "$libs/*" org.apache.activemq.console.command.ShellCommand > "$home/command"
      echo "amqp://127.0.0.1:$amqp" > "$home/amqp"
    else
      printf '%s\n' java "-Dactivemq.home=${jar%/bin/activemq.jar}" "-Dactivemq.base=$home" "-Dactivemq.conf=$home" "-Dactivemq.data=$home/data" -jar "$jar" > "$home/command"
    fi
    echo "$stomp" > "$home/stomp"
    # A memory limit above the heap's would be warned about; a sparse journal is small.
    cat > "$home/activemq.xml" <<XML
<beans xmlns="http://www.springframework.org/schema/beans" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  xsi:schemaLocation="http://www.springframework.org/schema/beans http://www.springframework.org/schema/beans/spring-beans.xsd
  http://activemq.apache.org/schema/core http://activemq.apache.org/schema/core/activemq-core.xsd">
  <broker xmlns="http://activemq.apache.org/schema/core" brokerName="cartorio" useJmx="false" schedulerSupport="true" dataDirectory="$home/data">
    <persistenceAdapter><kahaDB directory="$home/data/kahadb" journalMaxFileLength="4mb" preallocationStrategy="sparse_file"/></persistenceAdapter>
    <plugins><simpleAuthenticationPlugin anonymousAccessAllowed="true"><users>
      <authenticationUser username="cartorio" password="s:cret" groups="users"/>
    </users></simpleAuthenticationPlugin></plugins>
    <destinationPolicy><policyMap><policyEntries><policyEntry queue=">"><deadLetterStrategy>
      <individualDeadLetterStrategy queuePrefix="DLQ." useQueueForQueueMessages="true" processNonPersistent="true"/>
    </deadLetterStrategy></policyEntry></policyEntries></policyMap></destinationPolicy>
    <systemUsage><systemUsage>
      <memoryUsage><memoryUsage limit="64 mb"/></memoryUsage><storeUsage><storeUsage limit="1 gb"/></storeUsage><tempUsage><tempUsage limit="64 mb"/></tempUsage>
    </systemUsage></systemUsage>
    <transportConnectors><transportConnector name="stomp" uri="stomp://127.0.0.1:$stomp"/>$connector</transportConnectors>
  </broker>
</beans>
XML
    activemq_run "$home" && return
    stop_activemq "$1"
  done
  say 'NOT AVAILABLE: ActiveMQ could not be started'
  return 1
}

# activemq_run starts the broker on the data that is there and prints its settings.
activemq_run() { # HOME
  local pid stomp amqp='' command
  stomp=$(cat "$1/stomp")
  [ ! -s "$1/amqp" ] || amqp=$(cat "$1/amqp")
  mapfile -t command < "$1/command"
  setsid "${command[0]}" -Xms64m -Xmx512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 "-Djava.io.tmpdir=$1/tmp" "${command[@]:1}" \
    start "xbean:file:$1/activemq.xml" >> "$1/out" 2>&1 < /dev/null &
  pid=$!
  record "$pid" "$1/pid"
  if ! await_port "$stomp" "$pid" || { [ -n "$amqp" ] && ! await_port "${amqp##*:}" "$pid"; }; then
    say "ActiveMQ did not open its ports; its log ends:"
    tail -20 "$1/out" >&2
    return 1
  fi
  echo "export CARTORIO_TEST_ACTIVEMQ=127.0.0.1:$stomp CARTORIO_TEST_STOMP=127.0.0.1:$stomp CARTORIO_TEST_ACTIVEMQ_PID=$pid"
  [ -z "$amqp" ] || echo "export CARTORIO_TEST_AMQP10=$amqp"
}

# restart_activemq stops the broker if it runs and starts it on the same data and ports.
restart_activemq() { # FOLDER
  stop_activemq "$1"
  activemq_run "$1/activemq"
}

stop_activemq() { # FOLDER
  local pid
  pid=$(recorded "$1/activemq/pid") || return 0
  kill -CONT "$pid" 2>/dev/null || return 0 # a test may have paused it
  end "$pid"
}
