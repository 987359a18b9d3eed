//! The target's processes, the limits of its cgroup, and its sockets.

metrics! { PROCESSES
    "target.cpu" Gauge Number
        "Cores that the target's processes use, all together." "대상 프로세스들이 쓰는 코어 수의 합입니다.";
    "target.cpu.thread" Gauge Share
        "Share of a core that each of the target's busiest threads uses."
        "대상에서 가장 바쁜 스레드들의 코어 사용률입니다.";
    "target.cpu.main_thread" Gauge Share
        "Share of a core that the busiest first thread of the target's processes uses: the event loop of Node and \
         Python."
        "대상 프로세스의 주 스레드 중 가장 바쁜 것의 코어 사용률이며, Node와 Python에서는 이벤트 루프입니다.";
    "target.cpu.other_threads" Gauge Number
        "Cores that the target's threads use beside the first one of each process."
        "주 스레드를 뺀 나머지 스레드들이 쓰는 코어 수입니다.";
    "target.cpu.waiting" Gauge Number
        "Threads of the target that could run and waited for a core, on average."
        "실행할 수 있는데도 코어를 기다린 대상 스레드 수의 평균입니다.";
    "target.memory" Gauge Bytes
        "Memory that the target's processes use." "대상 프로세스들이 쓰는 메모리입니다.";
    "target.swap" Gauge Bytes
        "Memory of the target's processes that was moved to the swap space."
        "스왑으로 밀려난 대상 프로세스의 메모리입니다.";
    "target.processes" Gauge Number
        "Processes of the target." "대상의 프로세스 수입니다.";
    "target.threads" Gauge Number
        "Threads of the target." "대상의 스레드 수입니다.";
    "target.open_files" Gauge Number
        "Files and connections that the target's process with the most of them has open."
        "파일과 연결을 가장 많이 연 대상 프로세스의 열린 파일 수입니다.";
    "target.open_files.limit" Gauge Number
        "Files and connections that this process may have open." "그 프로세스가 열 수 있는 파일 수의 한도입니다.";
    "target.major_faults" Counter Events
        "Times that the target waited for a page of memory to be read from a disk."
        "대상이 메모리 페이지를 디스크에서 읽어 오느라 기다린 횟수입니다.";
    "target.started" Counter Events
        "Processes of the target that began after watching did."
        "살펴보기 시작한 뒤 새로 시작된 대상 프로세스 수입니다.";
    "target.ended" Counter Events
        "Processes of the target that ended." "끝난 대상 프로세스 수입니다.";
    "target.ended.workers" Counter Events
        "Those of them that left others like them behind: the same program with the same parent."
        "그중 같은 부모를 둔 같은 프로그램의 다른 프로세스가 남아 있는 수입니다.";
}

metrics! { LIMITS
    "target.quota" Gauge Number
        "Cores that the target's cgroup allows it." "대상의 cgroup이 허용하는 코어 수입니다.";
    "target.throttled" Gauge Share
        "Share of the cgroup's periods in which the target had used up its quota of CPU time and was stopped."
        "CPU 할당량을 다 써서 대상이 멈춘 cgroup 주기의 비율입니다.";
    "target.throttled.time" Gauge Number
        "Threads of the target that its CPU quota kept from running, on average."
        "CPU 할당량 때문에 실행되지 못한 대상 스레드 수의 평균입니다.";
    "target.cgroup.memory" Gauge Bytes
        "Memory that counts against the limit of the target's cgroup."
        "대상 cgroup의 한도에 포함되는 메모리입니다.";
    "target.cgroup.memory.limit" Gauge Bytes
        "Memory that the target's cgroup allows it." "대상의 cgroup이 허용하는 메모리입니다.";
    "target.memory.reclaims" Counter Events
        "Times that the target's cgroup reached its memory limit and had to give some back."
        "대상의 cgroup이 메모리 한도에 이르러 일부를 되찾아야 했던 횟수입니다.";
    "target.oom_kills" Counter Events
        "Processes of the target's cgroup that were killed because its memory ran out."
        "메모리가 모자라 강제로 종료된 대상 cgroup의 프로세스 수입니다.";
}

metrics! { SOCKETS
    "target.accept_queue" Gauge Number
        "Connections that wait to be accepted by the target." "대상이 받아들이기를 기다리는 연결 수입니다.";
    "target.accept_queue.limit" Gauge Number
        "Connections that may wait to be accepted by the target: its backlog."
        "대상이 받아들이기를 기다릴 수 있는 연결 수(backlog)입니다.";
    "target.round_trip" Gauge Milliseconds
        "The median round trip between the target and its clients, as a kernel measures it."
        "대상과 클라이언트 사이 왕복 시간의 중앙값이며, 커널이 측정합니다.";
    "target.retransmitted" Counter Number
        "Segments of the target's connections that had to be sent again."
        "대상의 연결에서 다시 보내야 했던 세그먼트 수입니다.";
    "target.receiver_limited" Gauge Number
        "Connections that could not send for half of the time and more, because the client did not read."
        "클라이언트가 읽지 않아 시간의 절반 이상 보내지 못한 연결 수입니다.";
    "target.connections" Gauge Number
        "Connections of the target's ports." "대상 포트의 연결 수입니다.";
    "target.receive_queue" Gauge Bytes
        "Bytes that have reached the target's machine and that it has not read yet."
        "대상 기계에 도착했지만 대상이 아직 읽지 않은 바이트 수입니다.";
    "target.send_queue" Gauge Bytes
        "Bytes that the target has sent and its clients have not acknowledged yet."
        "대상이 보냈지만 클라이언트가 아직 확인하지 않은 바이트 수입니다.";
}
