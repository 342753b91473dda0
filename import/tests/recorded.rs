//! What the archive has of a trace as Extrae 5.1.2 has recorded it: two of four tasks, from the first message on. Rank 0 comes
//! 600 ms late to an exchange with rank 1.

use crate::support::{events, import_bytes};

const RECORDS: &str = "\
#Paraver (30/11/2026 at 14:55):2777395441_ns:1(4):1:2(1:1,1:1),3
c:1:1:2:1:2
c:1:2:1:1
c:1:3:1:2
1:2:1:2:1:2126916406:2753425509:16
2:2:1:2:1:2126916406:50000001:41
3:2:1:2:1:2126916406:2126916406:1:1:1:1:2753205489:2753325603:4:3
2:2:1:2:1:2126916406:70000001:8:80000001:32:70000002:9:80000002:33:70000003:3:80000003:9:70000004:4:80000004:10:70000005:5:80000005:11
1:1:1:1:1:2753205489:2753325603:16
2:1:1:1:1:2753205489:50000001:41
3:1:1:1:1:2753205489:2753205489:2:1:2:1:2126916406:2753425509:4:3
2:1:1:1:1:2753205489:70000001:10:80000001:34:70000002:9:80000002:35:70000003:3:80000003:3:70000004:4:80000004:4:70000005:5:80000005:5
2:1:1:1:1:2753325603:50000001:0
2:1:1:1:1:2753329520:50000003:32:70000001:7:80000001:36:70000002:3:80000002:3:70000003:4:80000003:4:70000004:5:80000004:5
2:1:1:1:1:2753349107:50000003:0
2:2:1:2:1:2753425509:50000001:0
2:2:1:2:1:2753621785:50000003:32:70000001:7:80000001:37:70000002:3:80000002:9:70000003:4:80000003:10:70000004:5:80000004:11
2:2:1:2:1:2753649136:50000003:0
2:1:1:1:1:2755194748:40000001:0:40000050:85335897722379
";

const LABELS: &str = "\
EVENT_TYPE
9   50000001    MPI Point-to-point
VALUES
41   MPI_Sendrecv
0   Outside MPI


EVENT_TYPE
9   50000003    MPI Other
VALUES
32   MPI_Finalize
0   Outside MPI


EVENT_TYPE
0    70000001    Caller at level 1
0    70000002    Caller at level 2
0    70000003    Caller at level 3
0    70000004    Caller at level 4
0    70000005    Caller at level 5
VALUES
0 End
3 __libc_start_call_main 
4 __libc_start_main_impl 
5 _start 
7 finish 
8 exchange 
9 main 
10 exchange_late 


EVENT_TYPE
0    80000001    Caller line at level 1
0    80000002    Caller line at level 2
0    80000003    Caller line at level 3
0    80000004    Caller line at level 4
0    80000005    Caller line at level 5
VALUES
0 End
3 libc-start.c:58 [./csu/../sysdeps/x86/libc-start.c:58, /usr/lib/x86_64-linux-gnu/libc.so.6]
4 libc-start.c:360 [./csu/../csu/libc-start.c:360, /usr/lib/x86_64-linux-gnu/libc.so.6]
5 ??:0 [??:0, /home/me/sendrecv]
9 libc-start.c:58 [./csu/../sysdeps/x86/libc-start.c:58, /usr/lib/x86_64-linux-gnu/libc.so.6]
10 libc-start.c:360 [./csu/../csu/libc-start.c:360, /usr/lib/x86_64-linux-gnu/libc.so.6]
11 ??:0 [??:0, /home/me/sendrecv]
32 sendrecv.c:13 [/home/me/sendrecv.c:13, /home/me/sendrecv]
33 sendrecv.c:21 [/home/me/sendrecv.c:21, /home/me/sendrecv]
34 sendrecv.c:7 [/home/me/sendrecv.c:7, /home/me/sendrecv]
35 sendrecv.c:20 [/home/me/sendrecv.c:20, /home/me/sendrecv]
36 check.h:59 [/home/me/check.h:59, /home/me/sendrecv]
37 check.h:59 [/home/me/check.h:59, /home/me/sendrecv]
";

#[test]
fn callers_behind_a_message_belong_to_the_call_and_paths_begin_with_main() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let imported = import_bytes(RECORDS.as_bytes(), LABELS.as_bytes(), &path).unwrap();
    assert_eq!((imported.messages, imported.remarks), (2, import::Remarks::default()));
    let late = "0 a +1\n2753205489 a/main/exchange_late@sendrecv.c:20/MPI_Sendrecv@sendrecv.c:7 +3\n\
        2753205489 send 1 3 4 MPI_COMM_WORLD\n2753325603 recv 1 3 MPI_COMM_WORLD\n2753325603 -\n\
        2753329520 a/finish/MPI_Finalize@check.h:59 +2\n2777395441 -\n2777395441 -";
    assert_eq!(events(&path, 0), late);
    let waiting = "0 a +1\n2126916406 a/main/exchange@sendrecv.c:21/MPI_Sendrecv@sendrecv.c:13 +3\n\
        2126916406 send 0 3 4 MPI_COMM_WORLD\n2753425509 recv 0 3 MPI_COMM_WORLD\n2753425509 -\n\
        2753621785 a/finish/MPI_Finalize@check.h:59 +2\n2777395441 -\n2777395441 -";
    assert_eq!(events(&path, 1), waiting);
    // Each task has numbers of its own for the lines, but one path where these are the same: two to each exchange, two to the end.
    let definitions = otf2::Archive::open(&path).unwrap().definitions().unwrap();
    assert_eq!(definitions.calling_contexts.len(), 1 + 1 + 2 + 2 + 2);
}

#[test]
fn finalize_ends_where_the_thread_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a");
    let records = "#Paraver (x):40_ns:1(1):1:1(1:1)\n\
        2:1:1:1:1:5:60000019:1\n2:1:1:1:1:10:50000003:32\n2:1:1:1:1:12:50000003:0\n\
        2:1:1:1:1:20:60000019:2\n2:1:1:1:1:30:60000019:0\n2:1:1:1:1:40:60000019:0\n";
    let imported = import_bytes(records.as_bytes(), LABELS.as_bytes(), &path).unwrap();
    assert_eq!(imported.remarks, import::Remarks::default());
    let expected = "5 function 1\n10 MPI_Finalize\n20 -\n20 function 2\n30 -\n40 -";
    assert_eq!(events(&path, 0), expected);
}
