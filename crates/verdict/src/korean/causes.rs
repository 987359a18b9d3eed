//! Causes, in a sentence each.

use super::Entry;

pub(super) const ENTRIES: &[Entry] = &[
    (
        "Connections come faster than the target accepts them: its accept queue was full.",
        "대상이 받아들이는 것보다 빠르게 연결이 들어와 accept 큐가 가득 찼습니다.",
    ),
    (
        "Connects came in steps of whole seconds: SYNs to the target were dropped.",
        "연결 시간이 정확히 몇 초씩 계단을 이룹니다. 대상으로 가는 SYN이 버려졌습니다.",
    ),
    ("The target's machine had no CPU time left.", "대상 장비의 CPU가 남지 않았습니다."),
    (
        "The target's quota of {} cores was used up: it was stopped although the machine had time.",
        "대상의 CPU 할당량 {1}코어를 다 썼습니다. 장비에는 여유가 있는데도 대상이 멈춰 세워졌습니다.",
    ),
    (
        "The database's connections were used up, or nearly so.",
        "데이터베이스 연결을 거의 또는 모두 썼습니다.",
    ),
    (
        "Sessions of the database wait for each other's locks.",
        "데이터베이스 세션들이 서로의 잠금을 기다립니다.",
    ),
    (
        "Some of the target's workers ended, and others like them lived on.",
        "대상의 작업 프로세스 몇 개가 끝났고, 같은 다른 프로세스는 살아 있습니다.",
    ),
    ("The target's process ended and was started again.", "대상 프로세스가 끝났다가 다시 시작되었습니다."),
    (
        "The target died {} s into the run: nothing was answered after.",
        "실행 {1}초에 대상이 죽었고, 그 뒤로 아무 응답도 없었습니다.",
    ),
    (
        "The target died {} s into the run, or what leads to it.",
        "실행 {1}초에 대상이나 대상으로 가는 길이 죽었습니다.",
    ),
    (
        "One thread of the target did all the work, and it was full, held by {}.",
        "대상의 스레드 하나가 모든 일을 했고 가득 찼습니다. 붙들고 있는 것은 {1}입니다.",
    ),
    (
        "The target's event loop was blocked: by {}, and everybody else waits.",
        "대상의 이벤트 루프가 막혔습니다. 막은 것은 {1}이고 나머지는 모두 기다립니다.",
    ),
    (
        "The target was slow while it was idle: it waited for something else.",
        "대상은 한가한데 느렸습니다. 다른 무언가를 기다렸습니다.",
    ),
    (
        "The target may open {} files and connections, and had them open.",
        "대상이 열 수 있는 파일과 연결은 {1}개인데, 모두 열려 있었습니다.",
    ),
    (
        "One thread of the target did all the work, and it was full.",
        "대상의 스레드 하나가 모든 일을 했고, 그 스레드가 가득 찼습니다.",
    ),
    (
        "The target spent much of its time on collecting garbage.",
        "대상이 많은 시간을 가비지 컬렉션에 썼습니다.",
    ),
    (
        "The load generator fell behind its own plan: the target is not to be judged by this run.",
        "부하 생성기가 자기 계획을 따라가지 못했습니다. 이 실행으로 대상을 판단하지 마세요.",
    ),
    (
        "The target's event loop was blocked: what runs in it for long keeps everybody waiting.",
        "대상의 이벤트 루프가 막혔습니다. 그 안에서 오래 도는 일이 모두를 기다리게 합니다.",
    ),
    (
        "The target ran out of memory, and the kernel killed a process.",
        "대상의 메모리가 바닥나 커널이 프로세스를 죽였습니다.",
    ),
    ("The target's memory was used up.", "대상의 메모리를 다 썼습니다."),
    (
        "Other processes on the target's machine took its CPU time.",
        "대상 장비의 다른 프로세스가 CPU 시간을 가져갔습니다.",
    ),
    (
        "Packets were lost between the target and its clients.",
        "대상과 클라이언트 사이에서 패킷이 유실되었습니다.",
    ),
    ("The way to the target took most of the time.", "대상까지 오가는 데 대부분의 시간이 걸렸습니다."),
    ("nginx had no connections left and dropped clients.", "nginx의 연결이 바닥나 클라이언트를 끊었습니다."),
    (
        "Too many sessions share the database's cores: {} on {}.",
        "너무 많은 세션이 데이터베이스의 코어를 나눠 씁니다. 코어 {2}개에 세션 {1}개입니다.",
    ),
    (
        "All {} connections of a pool were in use, and the database was busy with them.",
        "풀의 연결 {1}개가 모두 쓰이고 있었고, 데이터베이스도 그 일로 바빴습니다.",
    ),
    (
        "A pool of {} connections is too small: all are in use, and the database has time left.",
        "연결 {1}개인 풀이 너무 작습니다. 모두 쓰이고 있는데 데이터베이스에는 여유가 있습니다.",
    ),
    (
        "The generator had no local port left for more connections.",
        "부하 생성기에 새 연결을 위한 로컬 포트가 남지 않았습니다.",
    ),
    (
        "The target refuses what is beyond a limit that somebody has set.",
        "누군가 정해 둔 한도를 넘는 요청을 대상이 거절합니다.",
    ),
    ("Redis refused connections.", "Redis가 연결을 거절했습니다."),
    ("Redis's only thread was full.", "Redis의 하나뿐인 스레드가 가득 찼습니다."),
    ("Redis evicted keys for want of memory.", "Redis가 메모리가 모자라 키를 내보냈습니다."),
    (
        "Clients did not read as fast as the target sent.",
        "클라이언트가 대상이 보내는 만큼 빨리 읽지 않았습니다.",
    ),
    (
        "One statement takes most of the database's time.",
        "SQL 문 하나가 데이터베이스 시간의 대부분을 씁니다.",
    ),
    (
        "The target's virtual machine did not get the CPU time it wanted.",
        "대상의 가상 머신이 원하는 만큼 CPU 시간을 받지 못했습니다.",
    ),
    (
        "The target's worker threads were full while its first thread was idle.",
        "대상의 첫 스레드는 한가한데 작업자 스레드가 가득 찼습니다.",
    ),
];
