/* Every mistake a file can hold, with the place and the words it gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "topology.h"

/* A whole file in which one line at a time is broken. Line 1 is `orch: 1`. */
#define HEAD  "orch: 1\nname: home\n"
#define HOSTS "hosts: {pc1: {ssh: pc1}, router: {ssh: router}, pc2: {ssh: pc2}}\n"
#define WAN   "- {name: wan, a: \"pc1:eth0\", b: \"router:eth0\"}\n"
#define WLAN  "- {name: wlan, a: \"router:wlan0\", b: \"pc2:wlan0\"}\n"
#define LINKS "links:\n" WAN WLAN
#define FULL  HEAD HOSTS LINKS

struct mistake {
	const char *text;
	const char *where;
	const char *message;
};

static const struct mistake document_mistakes[] = {
	{"", "home.yaml", "the file is empty"},
	{"# nothing\n", "home.yaml", "the file is empty"},
	{"[1, 2]", "home.yaml:1:1", "the topology must be a mapping of keys to values"},
	{"orch: 1\nname: [a\n", "home.yaml:3:1",
		"not valid YAML: did not find expected ',' or ']'"},
	{"orch: 1\nname: \xff\n", "home.yaml:2:7", "not valid YAML: invalid leading UTF-8 octet"},
	{FULL "---\norch: 1\n", "home.yaml:7:1",
		"a second document starts here; a topology is one document"},
	{HEAD "hosts: &all {pc1: {}}\n", "home.yaml:3:8",
		"anchors (&all) are not supported; write the value out in each place"},
	{HEAD "hosts: *all\n", "home.yaml:3:8",
		"aliases (*all) are not supported; write the value out in each place"},
	{HEAD "hosts:\n  <<: {pc1: {}}\n", "home.yaml:4:3",
		"merge keys (<<) are not supported; write the keys out"},
	{HEAD "hosts: !!map {pc1: {}}\n", "home.yaml:3:8",
		"tags (tag:yaml.org,2002:map) are not supported; leave it out"},
	{"# x\n%TAG ! tag:x,2000:\n---\n" FULL, "home.yaml:2:1",
		"tags (%TAG) are not supported; leave it out"},
	{HEAD "trials: !int 5\n", "home.yaml:3:9", "tags (!int) are not supported; leave it out"},
	{HEAD "links: &l [1]\n", "home.yaml:3:8",
		"anchors (&l) are not supported; write the value out in each place"},
	{HEAD "trials: &t 3\n", "home.yaml:3:9",
		"anchors (&t) are not supported; write the value out in each place"},
	{HEAD "? [a, b]\n: 1\n", "home.yaml:3:3", "a key must be a word, not a list or mapping"},
	{HEAD "name: other\n", "home.yaml:3:1",
		"duplicate key \"name\"; it stands in line 2 already"},
	{HEAD "label: \"a\\0b\"\n", "home.yaml:3:8", "a NUL byte in a text"},
	{HEAD HOSTS "lnks: []\n", "home.yaml:4:1",
		"unknown key \"lnks\" in the topology; did you mean \"links\"?"},
	{HEAD "colour: red\n", "home.yaml:3:1", "unknown key \"colour\" in the topology"},
	{"name: home\n" HOSTS LINKS, "home.yaml:1:1", "the topology needs \"orch: 1\""},
	{"orch: 1\n" HOSTS LINKS, "home.yaml:1:1", "the topology needs \"name: NAME\""},
	{HEAD LINKS, "home.yaml:1:1", "the topology needs \"hosts: {NAME: {...}}\""},
	{HEAD HOSTS, "home.yaml:1:1",
		"the topology needs \"links: [{name: ..., a: ..., b: ...}]\""},
	{"orch: 2\n", "home.yaml:1:7",
		"format 2 is not known to this version of orch; it reads \"orch: 1\""},
	{"orch: 1\nname: ../x\n", "home.yaml:2:7",
		"\"../x\" cannot name anything; use up to 64 of A-Z a-z 0-9 . _ - and begin with a "
		"letter or digit"},
	{FULL "trials: 0\n", "home.yaml:7:9", "trials must be 1 to 100000, not 0"},
	{FULL "trials: 100001\n", "home.yaml:7:9", "trials must be 1 to 100000, not 100001"},
	{FULL "trials: ten\n", "home.yaml:7:9",
		"trials: \"ten\" is not a whole number, such as 10"},
	{FULL "trials: 1.5\n", "home.yaml:7:9",
		"trials: \"1.5\" is not a whole number, such as 10"},
	{FULL "trials: [1]\n", "home.yaml:7:9", "trials must be one value, not a list or mapping"},
	{FULL "trials: \"\"\n", "home.yaml:7:9", "trials must be given a value"},
	{FULL "lab: {size: 3}\n", "home.yaml:7:7", "unknown key \"size\" in lab"},
	{FULL "lab: true\n", "home.yaml:7:6", "lab must be a mapping of keys to values"},
	{FULL "verdict: {tie: 5}\n", "home.yaml:7:16",
		"tie must be 0% to 50%, written as 5% or 0.05, not 5"},
	{FULL "verdict: {tie: 1.2.3}\n", "home.yaml:7:16",
		"tie must be 0% to 50%, written as 5% or 0.05, not 1.2.3"},
	{FULL "verdict: {end_to_end: 60%}\n", "home.yaml:7:23",
		"end_to_end must be 0% to 50%, not 60%"},
	{FULL "verdict: {ends: 6%}\n", "home.yaml:7:11", "unknown key \"ends\" in verdict"},
};

static const struct mistake host_mistakes[] = {
	{HEAD "hosts: []\n" LINKS, "home.yaml:3:8", "hosts must be a mapping {NAME: {...}}"},
	{HEAD "hosts: {pc1: {}}\n" LINKS, "home.yaml:5:33", "unknown host \"router\""},
	{HEAD "hosts: {pc1: {}, router: {ssh: r}}\nlinks:\n" WAN, "home.yaml:3:9",
		"host \"pc1\" needs one of ssh, exec, local or passive"},
	{HEAD "hosts: {\"a b\": {}}\n" LINKS, "home.yaml:3:9",
		"\"a b\" cannot name a host; use up to 64 of A-Z a-z 0-9 . _ - and begin with a "
		"letter or digit"},
	{HEAD "hosts: {pc1: here}\n" LINKS, "home.yaml:3:14",
		"host \"pc1\" must be a mapping of keys to values"},
	{HEAD "hosts: {pc1: {shs: x}}\n" LINKS, "home.yaml:3:15",
		"unknown key \"shs\" in host \"pc1\"; did you mean \"ssh\"?"},
	{HEAD "hosts: {pc1: {ssh: x, exec: [a]}}\n" LINKS, "home.yaml:3:23",
		"host \"pc1\" has two transports, ssh and exec; keep one"},
	{HEAD "hosts: {pc1: {passive: true, local: true}}\n" LINKS, "home.yaml:3:30",
		"host \"pc1\" has two transports, passive and local; keep one"},
	{HEAD "hosts: {pc1: {exec: docker}}\n" LINKS, "home.yaml:3:21",
		"exec must be a list: [a, b, ...]"},
	{HEAD "hosts: {pc1: {exec: [[a]]}}\n" LINKS, "home.yaml:3:22",
		"exec must be one value, not a list or mapping"},
	{HEAD "hosts: {pc1: {dut: yes}}\n" LINKS, "home.yaml:3:20",
		"dut must be true or false, not \"yes\""},
	{HEAD "hosts: {pc1: {ssh: {user: root}}}\n" LINKS, "home.yaml:3:20",
		"ssh needs a host: {host: ADDRESS}"},
	{HEAD "hosts: {pc1: {ssh: {host: -oX}}}\n" LINKS, "home.yaml:3:20",
		"a host or user of ssh cannot begin with \"-\""},
	{HEAD "hosts: {pc1: {ssh: {host: x, port: 70000}}}\n" LINKS, "home.yaml:3:36",
		"port must be 1 to 65535, not 70000"},
	{HEAD "hosts: {pc1: {ssh: {host: x, client: openshh}}}\n" LINKS, "home.yaml:3:38",
		"client must be one of libssh2, openssh, not \"openshh\"; did you mean "
		"\"openssh\"?"},
	{HEAD "hosts: {pc1: {ssh: {host: x, host_keys: none}}}\n" LINKS, "home.yaml:3:41",
		"host_keys must be one of strict, accept-new, off, not \"none\""},
	{HEAD "hosts: {pc1: {ssh: {host: x, via: pc9}}, pc2: {ssh: y}}\nlinks:\n"
	      "- {name: l, a: \"pc1:e\", b: \"pc2:e\"}\n",
		"home.yaml:3:9",
		"host \"pc1\" goes via unknown host \"pc9\"; did you mean \"pc1\"?"},
	{HEAD "hosts: {pc1: {ssh: {host: x, via: pc1}}, pc2: {ssh: y}}\nlinks:\n"
	      "- {name: l, a: \"pc1:e\", b: \"pc2:e\"}\n",
		"home.yaml:3:9", "host \"pc1\" goes via itself"},
	{HEAD "hosts: {pc1: {tools: [x]}}\n" LINKS, "home.yaml:3:22",
		"tools must be a mapping {TOOL: PATH}"},
	{HEAD "hosts: {pc1: {tools: {a b: x}}}\n" LINKS, "home.yaml:3:23",
		"\"a b\" cannot name a tool; use up to 64 of A-Z a-z 0-9 . _ - and begin with a "
		"letter or digit"},
	{HEAD "hosts: {pc1: {tools: {iperf3: [x]}}}\n" LINKS, "home.yaml:3:31",
		"tools must be one value, not a list or mapping"},
	{HEAD "hosts: {pc1: {firmware: {comand: x}}}\n" LINKS, "home.yaml:3:26",
		"unknown key \"comand\" in firmware; did you mean \"command\"?"},
	{HEAD "hosts: {pc1: {ssh: x, lab: {nat: true}}}\n" LINKS, "home.yaml:3:23",
		"lab keys of a host need \"lab: {}\" on the topology"},
	{HEAD "lab: {}\nhosts: {pc1: {lab: {cpu: 0.05}}}\n" LINKS, "home.yaml:4:26",
		"cpu: \"0.05\" is not a percentage, such as 5%"},
	{HEAD "lab: {}\nhosts: {pc1: {lab: {cpu: 101%}}}\n" LINKS, "home.yaml:4:26",
		"cpu must be 1% to 100%, not 101%"},
	{HEAD "lab: {}\nhosts: {pc1: {lab: {bridge: eth0}}}\n" LINKS, "home.yaml:4:29",
		"bridge must be true or a list of interfaces: [eth1, wlan0]"},
	{HEAD "lab: {}\nhosts: {pc1: {lab: {forward_limit: 30Mbps}}}\n" LINKS, "home.yaml:4:36",
		"forward_limit: unknown unit \"Mbps\" in \"30Mbps\"; a rate takes one of Tbit, "
		"Gbit, "
		"Mbit, kbit, bit"},
};

#define SSH(text) HEAD "hosts: {pc1: {ssh: \"" text "\"}}\n" LINKS
#define BAD_SSH(text)                                                                              \
	{                                                                                          \
		SSH(text), "home.yaml:3:20",                                                       \
			"ssh \"" text                                                              \
			"\" is not of the form user@host, host:port or user@[v6-address]:port"     \
	}

static const struct mistake ssh_mistakes[] = {
	BAD_SSH("@host"),
	BAD_SSH("-oProxyCommand=x"),
	BAD_SSH("root@-x"),
	BAD_SSH("root@"),
	BAD_SSH("host:"),
	BAD_SSH("host:0"),
	BAD_SSH("host:65536"),
	BAD_SSH("host:22x"),
	BAD_SSH("[fe80::1"),
	BAD_SSH("[]:22"),
	BAD_SSH("[::1]22"),
	BAD_SSH("two words"),
};

#define LINK(text) HEAD HOSTS "links:\n- {" text "}\n"
#define GOOD_A     "name: wan, a: \"pc1:eth0\""

static const struct mistake link_mistakes[] = {
	{HEAD HOSTS "links: {}\n", "home.yaml:4:8",
		"links must be a list of at least one {name: ..., a: ..., b: ...}"},
	{HEAD HOSTS "links: []\n", "home.yaml:4:8",
		"links must be a list of at least one {name: ..., a: ..., b: ...}"},
	{LINK("a: \"pc1:eth0\""), "home.yaml:5:3", "a link needs a name"},
	{LINK(GOOD_A), "home.yaml:5:3",
		"link \"wan\" needs two ends: a: \"HOST:INTERFACE\", b: \"HOST:INTERFACE\""},
	{LINK(GOOD_A ", b: router"), "home.yaml:5:33",
		"end \"router\" needs an interface: HOST:INTERFACE, as in \"router:eth0\""},
	{LINK(GOOD_A ", b: \"roter:eth0\""), "home.yaml:5:33",
		"unknown host \"roter\"; did you mean \"router\"?"},
	{LINK(GOOD_A ", b: \"router:\""), "home.yaml:5:33",
		"\"\" in end \"router:\" cannot be an interface (1 to 15 characters)"},
	{LINK(GOOD_A ", b: \"router:abcdefghijklmnop\""), "home.yaml:5:33",
		"\"abcdefghijklmnop\" in end \"router:abcdefghijklmnop\" cannot be an interface (1 "
		"to "
		"15 characters)"},
	{LINK(GOOD_A ", b: \"router:e/h\""), "home.yaml:5:33",
		"\"e/h\" in end \"router:e/h\" cannot be an interface (1 to 15 characters)"},
	{LINK(GOOD_A ", b: \"router::1\""), "home.yaml:5:33",
		"\":1\" in end \"router::1\" cannot be an interface (1 to 15 characters)"},
	{LINK(GOOD_A ", b: \"router:eth0@10.0.0\""), "home.yaml:5:33",
		"\"10.0.0\" in end \"router:eth0@10.0.0\" is not an IPv4 or IPv6 address"},
	{LINK(GOOD_A ", b: \"pc1:eth1\""), "home.yaml:5:33",
		"link \"wan\" has both ends on host \"pc1\""},
	{HEAD HOSTS "links:\n" WAN WAN, "home.yaml:6:3",
		"two links are called \"wan\"; rename one"},
	{LINK(GOOD_A ", medium: wlan"), "home.yaml:5:38",
		"medium must be one of ethernet, wifi, other, not \"wlan\""},
	{LINK(GOOD_A ", rate: 10 Mbit"), "home.yaml:5:36",
		"rate: \"10 Mbit\" is not a rate: no space goes between number and unit, as in "
		"20Mbit"},
	{LINK(GOOD_A ", rate: 100"), "home.yaml:5:36",
		"rate: \"100\" has no unit; a rate takes one of Tbit, Gbit, Mbit, kbit, bit, as in "
		"20Mbit"},
	{LINK(GOOD_A ", rate: 100mbit"), "home.yaml:5:36",
		"rate: unknown unit \"mbit\" in \"100mbit\"; a rate takes one of Tbit, Gbit, Mbit, "
		"kbit, bit; did you mean \"Mbit\"?"},
	{LINK(GOOD_A ", rate: 10s"), "home.yaml:5:36",
		"rate: unknown unit \"s\" in \"10s\"; a rate takes one of Tbit, Gbit, Mbit, kbit, "
		"bit"},
	{LINK(GOOD_A ", rate: 1bit"), "home.yaml:5:36", "rate must be 1kbit to 1Tbit, not 1bit"},
	{LINK(GOOD_A ", b: \"router:eth0\", listen: pc2"), "home.yaml:5:56",
		"listen must be auto, \"pc1\" or \"router\", not \"pc2\""},
	{LINK(GOOD_A ", b: \"router:eth0\", lab: {loss: 5%}"), "home.yaml:5:48",
		"lab keys of a link need \"lab: {}\" on the topology"},
	{"lab:\n" LINK(GOOD_A ", b: \"router:eth0\", lab: {los: 5%}"), "home.yaml:6:54",
		"unknown key \"los\" in lab; did you mean \"loss\"?"},
	{"lab:\n" LINK(GOOD_A ", b: \"router:eth0\", lab: {loss: 5}"), "home.yaml:6:60",
		"loss: \"5\" is not a percentage, such as 5%"},
	{"lab:\n" LINK(GOOD_A ", b: \"router:eth0\", lab: {mtu: 100}"), "home.yaml:6:59",
		"mtu must be 576 to 65535, not 100"},
	{"lab:\n" LINK(GOOD_A ", b: \"router:eth0\"") "- {name: x, a: \"pc2:e\", b: \"pc1:eth0\"}",
		"home.yaml:7:28",
		"in a lab an interface ends one link; \"pc1:eth0\" stands in line 6 already"},
};

#define SECOND_WAN "- {name: wan2, a: \"pc1:eth1\", b: \"router:eth1\"}\n"

static const struct mistake path_mistakes[] = {
	{FULL "path: pc1\n", "home.yaml:7:7", "a path must be a list of at least two hosts"},
	{FULL "path: [pc1]\n", "home.yaml:7:7", "a path must be a list of at least two hosts"},
	{FULL "path: [pc1, router, pc3]\n", "home.yaml:7:21",
		"unknown host \"pc3\" in the path; did you mean \"pc1\"?"},
	{FULL "path: [rooter, pc1]\n", "home.yaml:7:8",
		"unknown host \"rooter\" in the path; did you mean \"router\"?"},
	{FULL "path: [pc1, pc2]\n", "home.yaml:7:13",
		"the path does not connect: no link joins \"pc1\" and \"pc2\"; the links of "
		"\"pc1\" "
		"lead to router"},
	{FULL "path: [pc1, router, pc1]\n", "home.yaml:7:21", "host \"pc1\" is on the path twice"},
	{FULL "path: [pc1, wan, router, wan, pc1]\n", "home.yaml:7:31",
		"host \"pc1\" is on the path twice"},
	{FULL "path: [pc1, [router]]\n", "home.yaml:7:13",
		"path must be one value, not a list or mapping"},
	{FULL "path: [pc1, wlan, router]\n", "home.yaml:7:13",
		"the path does not connect: link \"wlan\" does not begin at host \"pc1\""},
	{FULL "path: [pc1, wan, pc2]\n", "home.yaml:7:13",
		"link \"wan\" must stand between its two hosts in the path"},
	{FULL "path: [pc1, wan]\n", "home.yaml:7:13",
		"link \"wan\" must stand between its two hosts in the path"},
	{FULL SECOND_WAN "path: [pc1, router, pc2]\n", "home.yaml:8:13",
		"\"pc1\" and \"router\" are joined by links \"wan\" and \"wan2\"; name the one to "
		"take: [..., pc1, wan2, router, ...]"},
	{FULL SECOND_WAN, "home.yaml:5:3",
		"the links do not form one chain; say what to measure with \"path: [HOST, ..., "
		"HOST]\""},
	{HEAD HOSTS "links:\n" WAN SECOND_WAN, "home.yaml:5:3",
		"the links do not form one chain; say what to measure with \"path: [HOST, ..., "
		"HOST]\""},
	{FULL "path: [pc1, router]\npaths: {x: [pc1, router]}\n", "home.yaml:8:1",
		"give either path or paths, not both"},
	{FULL "paths: {}\n", "home.yaml:7:8", "paths must be a mapping {NAME: [HOST, ..., HOST]}"},
	{FULL "paths: {wan: [pc1, router]}\n", "home.yaml:5:3",
		"link \"wan\" has the name of a path; rename it"},
	{FULL "paths: {\"a:b\": [pc1, router]}\n", "home.yaml:7:9",
		"\"a:b\" cannot name a path; use up to 64 of A-Z a-z 0-9 . _ - and begin with a "
		"letter or digit"},
	{FULL "paths: {x: {listen: pc1}}\n", "home.yaml:7:12", "path \"x\" needs hosts: [...]"},
	{FULL "listen: router\n", "home.yaml:7:9",
		"listen must be auto or an end of the path, \"pc1\" or \"pc2\", not \"router\""},
	{FULL "expect: {link: wlam}\n", "home.yaml:7:16",
		"unknown link \"wlam\"; did you mean \"wlan\"?"},
	{FULL "expect: {min: [path]}\n", "home.yaml:7:15", "min must be a mapping {SEGMENT: RATE}"},
	{FULL "expect: {min: {\"pth\": 1Mbit}}\n", "home.yaml:7:16",
		"unknown segment \"pth\"; did you mean \"path\"?"},
	{FULL "expect: {min: {\"path:router\": 1Mbit}}\n", "home.yaml:7:16",
		"unknown segment \"path:router\""},
	{FULL "expect: {min: {path: 1MB}}\n", "home.yaml:7:22",
		"min: unknown unit \"MB\" in \"1MB\"; a rate takes one of Tbit, Gbit, Mbit, kbit, "
		"bit"},
};

#define TEST(text) FULL "tests:\n- " text "\n"

static const struct mistake test_mistakes[] = {
	{FULL "tests: {}\n", "home.yaml:7:8", "tests must be a list: [tcp: {duration: 10s}]"},
	{TEST("tcp"), "home.yaml:8:3",
		"a test must be one kind with its keys, as in \"tcp: {duration: 10s}\""},
	{TEST("{tcp: {}, udp: {}}"), "home.yaml:8:3",
		"a test must be one kind with its keys, as in \"tcp: {duration: 10s}\""},
	{TEST("tpc: {}"), "home.yaml:8:3",
		"a test must be one of tcp, udp, latency, copy, not \"tpc\"; did you mean "
		"\"tcp\"?"},
	{TEST("tcp: {duraton: 1s}"), "home.yaml:8:9",
		"unknown key \"duraton\" in tcp; did you mean \"duration\"?"},
	{TEST("tcp: {rate: 1Mbit}"), "home.yaml:8:9", "\"rate\" is not a key of tcp tests"},
	{TEST("udp: {method: cp}"), "home.yaml:8:9", "\"method\" is not a key of udp tests"},
	{TEST("tcp: {duration: 10}"), "home.yaml:8:19",
		"duration: \"10\" has no unit; a duration takes one of h, min, s, ms, as in 10s"},
	{TEST("tcp: {duration: 10sec}"), "home.yaml:8:19",
		"duration: unknown unit \"sec\" in \"10sec\"; a duration takes one of h, min, s, "
		"ms"},
	{TEST("tcp: {duration: -1s}"), "home.yaml:8:19",
		"duration: \"-1s\" is not a duration, such as 10s"},
	{TEST("tcp: {duration: 99ms}"), "home.yaml:8:19", "duration must be 100ms to 1h, not 99ms"},
	{TEST("tcp: {duration: 61min}"), "home.yaml:8:19",
		"duration must be 100ms to 1h, not 61min"},
	{TEST("tcp: {duration: 1s, omit: 1s}"), "home.yaml:8:3",
		"test \"tcp\" omits its first 1s, which leaves nothing of 1s"},
	{TEST("tcp: {duration: 1s, omit: 951ms}"), "home.yaml:8:3",
		"test \"tcp\" omits its first 951ms, which leaves less than 50 ms of 1s"},
	{TEST("tcp: {duration: 1s, interval: 2s}"), "home.yaml:8:3",
		"test \"tcp\" has an interval of 2s, longer than its 1s"},
	{TEST("tcp: {duration: 1min, interval: 10ms}"), "home.yaml:8:3",
		"test \"tcp\" has too short an interval: at most 4096 of them in 1min"},
	{TEST("tcp: {bytes: 1MB, omit: 1s}"), "home.yaml:8:3",
		"test \"tcp\" ends by bytes, which count from the first: it cannot omit time; drop "
		"omit or bytes"},
	{TEST("tcp: {bytes: 3, streams: 4}"), "home.yaml:8:3",
		"test \"tcp\" has fewer bytes than its 4 streams"},
	{TEST("tcp: {bytes: 1MB, interval: 11min}"), "home.yaml:8:3",
		"test \"tcp\" has an interval of 11min, longer than its 10min"},
	{TEST("udp: {rate: 1Mbit, nodelay: true}"), "home.yaml:8:22",
		"\"nodelay\" is not a key of udp tests"},
	{TEST("tcp: {nodelay: 1}"), "home.yaml:8:18", "nodelay must be true or false, not \"1\""},
	{TEST("latency: {transport: tpc}"), "home.yaml:8:24",
		"transport must be one of udp, tcp, connect, not \"tpc\"; did you mean \"tcp\"?"},
	{TEST("latency: {probes: false}"), "home.yaml:8:13",
		"\"probes\" is not a key of latency tests"},
	{TEST("tcp: {probes: 1}"), "home.yaml:8:17", "probes must be true or false, not \"1\""},
	{TEST("tcp: {streams: 0}"), "home.yaml:8:18", "streams must be 1 to 64, not 0"},
	{TEST("tcp: {streams: 65}"), "home.yaml:8:18", "streams must be 1 to 64, not 65"},
	{TEST("tcp: {dscp: 64}"), "home.yaml:8:15", "dscp must be 0 to 63, not 64"},
	{TEST("tcp: {mss: 87}"), "home.yaml:8:14", "mss must be 88 to 32767, not 87"},
	{TEST("tcp: {mss: 32768}"), "home.yaml:8:14", "mss must be 88 to 32767, not 32768"},
	{TEST("tcp: {block: 17MiB}"), "home.yaml:8:16", "block must be 1B to 16MiB, not 17MiB"},
	{TEST("tcp: {window: 64kb}"), "home.yaml:8:17",
		"window: unknown unit \"kb\" in \"64kb\"; a size takes one of GiB, MiB, KiB, B; "
		"did "
		"you mean \"kB\"?"},
	{TEST("tcp: {family: ipv4}"), "home.yaml:8:17", "family must be one of 4, 6, not \"ipv4\""},
	{TEST("tcp: {direction: backward}"), "home.yaml:8:20",
		"direction must be one of forward, reverse, both, bidir, not \"backward\""},
	{TEST("tcp: {engine: iperf4}"), "home.yaml:8:17",
		"engine must be one of native, iperf2, iperf3, nuttcp, netperf, copy, not "
		"\"iperf4\"; "
		"did you mean \"iperf2\"?"},
	{TEST("tcp: {ports: 70000}"), "home.yaml:8:16",
		"ports must be a port or a range such as 5201-5210, not \"70000\""},
	{TEST("tcp: {ports: 9-5}"), "home.yaml:8:16",
		"ports must be a port or a range such as 5201-5210, not \"9-5\""},
	{TEST("tcp: {ports: 123456789-5}"), "home.yaml:8:16",
		"ports must be a port or a range such as 5201-5210, not \"123456789-5\""},
	{TEST("tcp: {congestion: \"a b\"}"), "home.yaml:8:21",
		"\"a b\" cannot name anything; use up to 64 of A-Z a-z 0-9 . _ - and begin with a "
		"letter or digit"},
	{TEST("udp: {loss_limit: 101%}"), "home.yaml:8:21",
		"loss_limit must be 0% to 100%, not 101%"},
	{TEST("tcp: {}\n- tcp: {duration: 1s}"), "home.yaml:9:3",
		"two tests are called \"tcp\"; give one a name: {name: ...}"},
	{TEST("tcp: {name: x}\n- udp: {name: x}"), "home.yaml:9:3",
		"two tests are called \"x\"; give one a name: {name: ...}"},
	{TEST("tcp: {engine: iperf3}\n- udp: {name: tcp-iperf3}"), "home.yaml:9:3",
		"two tests are called \"tcp-iperf3\"; give one a name: {name: ...}"},
};

static void check(const struct mistake *mistakes, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		struct error err = {0};
		struct topology *topology = topology_load(mistakes[i].text,
			strlen(mistakes[i].text), "home.yaml", TOPOLOGY_FILE, &err);

		if (topology)
			print_error("loaded:\n%s\n", mistakes[i].text);
		assert_null(topology);
		assert_string_equal(err.message, mistakes[i].message);
		assert_string_equal(err.where, mistakes[i].where);
		assert_int_equal(err.code, ERROR_TOPOLOGY);
	}
}

#define CHECK(name)                                                                                \
	static void test_##name(void **state)                                                      \
	{                                                                                          \
		(void)state;                                                                       \
		check(name, sizeof(name) / sizeof(name[0]));                                       \
	}

CHECK(document_mistakes)
CHECK(host_mistakes)
CHECK(ssh_mistakes)
CHECK(link_mistakes)
CHECK(path_mistakes)
CHECK(test_mistakes)

/* The unbroken file of the tables loads, so that each mistake is the only one. */
static void test_unbroken(void **state)
{
	struct error err = {0};
	struct topology *topology =
		topology_load(FULL, strlen(FULL), "home.yaml", TOPOLOGY_FILE, &err);

	(void)state;
	assert_non_null(topology);
	topology_free(topology);
}

static char *repeat(const char *head, const char *unit, size_t count, size_t *ret_length)
{
	size_t head_length = strlen(head), unit_length = strlen(unit), i;
	char *text = malloc(head_length + unit_length * count + 1);

	assert_non_null(text);
	memcpy(text, head, head_length);
	for (i = 0; i < count; i++)
		memcpy(text + head_length + i * unit_length, unit, unit_length);
	*ret_length = head_length + unit_length * count;
	text[*ret_length] = '\0';
	return text;
}

static double cpu_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* Refused with these words, and within a moment: hostile size must cost nothing. */
static void check_hostile(
	const char *head, const char *unit, size_t count, const char *where, const char *message)
{
	struct error err = {0};
	size_t length;
	char *text = repeat(head, unit, count, &length);
	double start = cpu_seconds();

	assert_null(topology_load(text, length, "home.yaml", TOPOLOGY_FILE, &err));
	assert_true(cpu_seconds() - start < 2);
	assert_string_equal(err.message, message);
	assert_string_equal(err.where, where);
	free(text);
}

static void test_hostile_size(void **state)
{
	(void)state;
	check_hostile("hosts: ", "[", 10000, "home.yaml:1:39", "nested more than 32 levels deep");
	check_hostile(
		"hosts: ", "{a: ", 10000, "home.yaml:1:132", "nested more than 32 levels deep");
	check_hostile("", "- ", 10000, "home.yaml:1:65", "nested more than 32 levels deep");
	check_hostile("", "# ten bytes", 1000000, "home.yaml",
		"11000000 bytes are more than the 1048576 bytes a topology may have");
	check_hostile("trials: [", "1,", 30000, "home.yaml:1:40006",
		"more than 20000 values in one file");
}

static void test_many_directives(void **state)
{
	size_t size = 1 << 20, used = 0, i;
	char *text = malloc(size);
	struct error err = {0};
	double start = cpu_seconds();

	(void)state;
	assert_non_null(text);
	for (i = 0; used < size - 64; i++)
		used += (size_t)snprintf(text + used, size - used, "%%TAG !a%zu! b\n", i);
	assert_null(topology_load(text, used, "home.yaml", TOPOLOGY_FILE, &err));
	assert_true(cpu_seconds() - start < 2);
	assert_string_equal(err.where, "home.yaml:1:1");
	free(text);
}

/* Thousands of distinct keys, also with two of them equal, take no quadratic time. */
static void test_many_keys(void **state)
{
	size_t size = 19000 * 16, used = 0, i;
	char *text = malloc(size);
	struct error err = {0};
	double start = cpu_seconds();

	(void)state;
	assert_non_null(text);
	for (i = 0; i < 19000; i++)
		used += (size_t)snprintf(text + used, size - used, "k%zu: 1\n", i % 18999);
	assert_null(topology_load(text, used, "home.yaml", TOPOLOGY_FILE, &err));
	assert_true(cpu_seconds() - start < 2);
	assert_string_equal(err.where, "home.yaml:19000:1");
	assert_string_equal(err.message, "duplicate key \"k0\"; it stands in line 1 already");
	free(text);
}

/* A caller that does not care gives no error struct. */
static void test_without_error(void **state)
{
	(void)state;
	assert_null(topology_load("a", 1, "home.yaml", TOPOLOGY_FILE, NULL));
	assert_null(topology_load("[", 1, "home.yaml", TOPOLOGY_FILE, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unbroken),
		cmocka_unit_test(test_document_mistakes),
		cmocka_unit_test(test_host_mistakes),
		cmocka_unit_test(test_ssh_mistakes),
		cmocka_unit_test(test_link_mistakes),
		cmocka_unit_test(test_path_mistakes),
		cmocka_unit_test(test_test_mistakes),
		cmocka_unit_test(test_hostile_size),
		cmocka_unit_test(test_many_directives),
		cmocka_unit_test(test_many_keys),
		cmocka_unit_test(test_without_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
