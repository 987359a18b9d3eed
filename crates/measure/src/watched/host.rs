//! The machine that the target runs on.

metrics! { HOST
    "host.cpu" Gauge Share
        "Share of the machine's CPU time that is used, waiting for disks not counted."
        "기계의 CPU 사용률이며, 디스크 대기는 세지 않습니다.";
    "host.cpu.kind" Gauge Share
        "Share of the machine's CPU time by what it is spent on." "종류별 CPU 시간 비율입니다.";
    "host.cpu.steal" Gauge Share
        "Share of its CPU time that the machine wanted and other virtual machines got."
        "이 기계가 쓰려 했지만 다른 가상 머신이 가져간 CPU 시간의 비율입니다.";
    "host.cores" Gauge Number
        "Cores of the machine." "기계의 코어 수입니다.";
    "host.load" Gauge Number
        "Load average of a minute." "1분 평균 부하(load average)입니다.";
    "host.runnable" Gauge Number
        "Tasks of the machine that run or wait for a core." "실행 중이거나 코어를 기다리는 작업 수입니다.";
    "host.pressure.cpu" Gauge Share
        "Share of the time in which some task waited for a core." "어떤 작업이 코어를 기다린 시간의 비율입니다.";
    "host.pressure.memory" Gauge Share
        "Share of the time in which some task waited for memory." "어떤 작업이 메모리를 기다린 시간의 비율입니다.";
    "host.pressure.memory.full" Gauge Share
        "Share of the time in which all tasks waited for memory." "모든 작업이 메모리를 기다린 시간의 비율입니다.";
    "host.pressure.io" Gauge Share
        "Share of the time in which some task waited for a disk." "어떤 작업이 디스크를 기다린 시간의 비율입니다.";
    "host.memory" Gauge Bytes
        "Memory of the machine." "기계의 메모리입니다.";
    "host.memory.available" Gauge Bytes
        "Memory that processes can have without anything being swapped out."
        "스왑 없이 프로세스가 더 쓸 수 있는 메모리입니다.";
    "host.swap" Gauge Bytes
        "Swap space in use." "쓰고 있는 스왑 공간입니다.";
    "host.swap.in" Counter Bytes
        "Memory read back from swap space, in a second." "1초 동안 스왑에서 되읽은 메모리입니다.";
    "host.swap.out" Counter Bytes
        "Memory written to swap space, in a second." "1초 동안 스왑으로 내보낸 메모리입니다.";
    "host.oom_kills" Counter Events
        "Processes of the machine that were killed because memory ran out."
        "메모리가 모자라 강제로 종료된 프로세스 수입니다.";
    "host.disk.busy" Gauge Share
        "Share of the time in which a disk was busy, by disk." "디스크별로 바쁜 시간의 비율입니다.";
    "host.disk.read" Counter Bytes
        "Bytes read from disks in a second." "1초 동안 디스크에서 읽은 바이트 수입니다.";
    "host.disk.written" Counter Bytes
        "Bytes written to disks in a second." "1초 동안 디스크에 쓴 바이트 수입니다.";
    "host.network.received" Counter Bytes
        "Bytes received in a second, by network interface."
        "네트워크 인터페이스별로 1초 동안 받은 바이트 수입니다.";
    "host.network.sent" Counter Bytes
        "Bytes sent in a second, by network interface." "네트워크 인터페이스별로 1초 동안 보낸 바이트 수입니다.";
    "host.network.dropped" Counter Events
        "Packets that a network interface dropped." "네트워크 인터페이스가 버린 패킷 수입니다.";
    "host.tcp.sent" Counter Events
        "TCP segments that the machine sent." "기계가 보낸 TCP 세그먼트 수입니다.";
    "host.tcp.retransmitted" Counter Events
        "TCP segments that the machine sent again." "기계가 다시 보낸 TCP 세그먼트 수입니다.";
    "host.tcp.listen_overflows" Counter Events
        "Connections of the machine refused because an accept queue was full."
        "accept 대기열이 가득 차서 거부된 연결 수입니다.";
    "host.tcp.listen_drops" Counter Events
        "Connections of the machine dropped before they were accepted, for any reason."
        "어떤 이유로든 받아들여지기 전에 버려진 연결 수입니다.";
    "host.tcp.sockets" Gauge Number
        "TCP sockets of the machine by state." "상태별 TCP 소켓 수입니다.";
    "host.softnet.dropped" Counter Events
        "Packets dropped because the queue of a core was full."
        "코어의 수신 대기열이 가득 차서 버려진 패킷 수입니다.";
    "host.softnet.squeezed" Counter Events
        "Times that a core had to stop receiving packets before it was done."
        "코어가 패킷 수신을 끝내지 못하고 멈춰야 했던 횟수입니다.";
}
