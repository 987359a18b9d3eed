#!/bin/sh
# The service of a run, in the place of this shell: `sh service.sh spring` or `sh service.sh sonagi`, at 127.0.0.1:8003.
#
# | variable | |
# |---|---|
# | HEAP | how large the JVM's heap may become; 1g without it |
# | SONAGI_BIN | the program that is `sonagi serve`; without it the one on the PATH |
# | SERVER_… | any setting of Spring Boot but its port: SERVER_TOMCAT_MAXCONNECTIONS is how many connections it takes at a time |
set -eu
port=8003
jar=$(dirname "$0")/../../.cache/locations/locations.jar

case "${1:-}" in
    spring)
        if [ ! -f "$jar" ]; then
            echo "error: the Spring service is not built: there is no $jar" >&2
            echo "hint: scripts/setup.sh experiments" >&2
            exit 1
        fi
        # The collector that a JVM takes by itself depends on the machine.
        exec java -XX:+UseG1GC "-Xmx${HEAP:-1g}" -jar "$jar" --server.port="$port"
        ;;
    sonagi)
        exec "${SONAGI_BIN:-sonagi}" serve --listen="127.0.0.1:$port" --workers=1
        ;;
    *)
        echo "error: a service is spring or sonagi; got ${1:-nothing}" >&2
        exit 1
        ;;
esac
