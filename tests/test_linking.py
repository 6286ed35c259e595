"""Red-flag keys and the topics they mean: a table in the manner of real packs, and what other thresholds would give."""

from __future__ import annotations

import pytest

from ladderdeck.comparing import linking
from ladderdeck.comparing.linking import RedFlagLine, likeness, link

SERVING = [
    "投机解码", "量化与算子优化", "分布式推理与并行", "长上下文与显存", "PD 分离与 KV 传输", "MoE 模型的服务",
    "前缀缓存与多轮对话", "约束解码与采样策略", "容量规划与弹性",
]  # fmt: skip
BACKEND = [
    "缓存一致性与失效策略", "消息队列的可靠投递", "分布式事务", "限流、熔断与降级", "数据库索引与慢查询", "连接池与超时设置",
    "服务发现与负载均衡", "幂等设计", "Go 的 goroutine 调度（GMP）", "垃圾回收（GC）与内存逃逸",
]  # fmt: skip
ENGLISH = [
    "Persistence: mappers and pools", "Caching and invalidation", "Message queues and delivery guarantees",
    "Rate limiting and graceful degradation", "Index design and slow queries", "Garbage collection tuning",
    "C++ object lifetime", "C# async and await", "Staging areas, data and CI/CD", "Observability: logs, metrics, traces",
]  # fmt: skip
FRONTEND = [
    "浏览器渲染流程与重排重绘", "React 的 Fiber 与调度", "状态管理方案", "打包与构建优化", "首屏性能指标（LCP、INP）", "跨域与同源策略",
]  # fmt: skip

BAKERY = [
    "Starter upkeep and feeding schedule", "Oven-as-instrument drift and calibration", "Crumb-level metrics",
    "Room temperature swings and timing", "Autolyse, kneading, and folding stages", "Overproofing and collapse",
    "Failed loaves and recovery notes", "Allergens and kitchen safety",
]  # fmt: skip
RAIL = [
    "Choosing a signalling strategy", "Overlapping maintenance and operation", "KPI and timetable performance analysis",
    "Diversions and incident recovery", "Ticket pipeline and gates", "ETCS onboard systems",
]  # fmt: skip
LIBRARY = [
    "Interlibrary loans and fairness", "Renewals and at-most-once", "Interlibrary holds and queues",
    "Fairness rules and appeals", "Stocktaking drills and audit practice", "Multi-branch and flood recovery",
]  # fmt: skip
COFFEE = [
    "研磨粗细与萃取模式",
    "refractometer 与浓度判断",
    "V60 与手冲器具",
    "烘焙曲线与豆温精度",
    "奶泡质地与拉花",
    "拼配比例与养豆",
]
COLONS = [
    "排班模型：早班 / 晚班与主管",
    "C++ 与内存归还",
    "C# 的界面与线程",
    "长途运输（RORO / LOLO）",
    "AI / 预报服务（可选，常问）",
]

TABLE = [
    (SERVING, "投机解码", 0), (SERVING, "量化与算子", 1), (SERVING, "算子优化", 1), (SERVING, "分布式推理", 2),
    (SERVING, "长上下文", 3), (SERVING, "显存与长上下文", 3), (SERVING, "PD 分离", 4), (SERVING, "KV 传输", 4),
    (SERVING, "MoE 服务", 5), (SERVING, "MoE", 5), (SERVING, "前缀缓存与多轮", 6), (SERVING, "多轮对话", 6),
    (SERVING, "约束解码与采样", 7), (SERVING, "采样策略", 7), (SERVING, "容量规划", 8), (SERVING, "弹性容量", 8),
    (SERVING, "并行与分布式", 2), (SERVING, "投机解码（speculative decoding）", 0),
    (BACKEND, "缓存一致性", 0), (BACKEND, "缓存失效", 0), (BACKEND, "消息队列", 1), (BACKEND, "可靠投递", 1),
    (BACKEND, "限流降级", 3), (BACKEND, "限流熔断", 3), (BACKEND, "索引与慢 SQL", 4), (BACKEND, "数据库索引", 4),
    (BACKEND, "连接池", 5), (BACKEND, "超时与连接池", 5), (BACKEND, "负载均衡", 6), (BACKEND, "幂等", 7),
    (BACKEND, "goroutine 与 GMP", 8), (BACKEND, "GMP 调度", 8), (BACKEND, "GC 与逃逸分析", 9), (BACKEND, "垃圾回收", 9),
    (BACKEND, "分布式事务与一致性", 2),
    (ENGLISH, "Persistence: mappers and pools", 0), (ENGLISH, "Persistence", 0), (ENGLISH, "Mappers & pools", 0),
    (ENGLISH, "Cache invalidation", 1), (ENGLISH, "Caching", 1), (ENGLISH, "Message queue delivery", 2),
    (ENGLISH, "Delivery guarantees", 2), (ENGLISH, "Rate limits and degradation", 3), (ENGLISH, "Slow queries", 4),
    (ENGLISH, "Indexing and slow queries", 4), (ENGLISH, "GC tuning (garbage collection)", 5),
    (ENGLISH, "Object lifetimes in C++", 6), (ENGLISH, "C# async/await", 7), (ENGLISH, "Staging data and CI", 8),
    (ENGLISH, "Staging area", 8), (ENGLISH, "Logs, metrics and traces", 9), (ENGLISH, "Observability", 9),
    (FRONTEND, "渲染流程", 0), (FRONTEND, "重排与重绘", 0), (FRONTEND, "React Fiber", 1), (FRONTEND, "状态管理", 2),
    (FRONTEND, "构建优化", 3), (FRONTEND, "首屏性能", 4), (FRONTEND, "LCP 与 INP", 4), (FRONTEND, "跨域", 5),
    (BAKERY, "Oven calibration", 1), (BAKERY, "Temperature and timing", 3), (BAKERY, "Folding stage", 4),
    (BAKERY, "Overproofed", 5), (BAKERY, "Failed loaves", 6), (BAKERY, "Crumb metrics", 2),
    (BAKERY, "Feeding schedules and starters", 0), (BAKERY, "Safety and allergen-handling", 7),
    (RAIL, "Maintenance and overlap", 1), (RAIL, "Overlap", 1), (RAIL, "KPI and performance", 2),
    (RAIL, "Incident recovery", 3), (RAIL, "Ticket scanning and gates", 4), (RAIL, "ETCS systems", 5),
    (RAIL, "Signal strategies", 0), (RAIL, "Diversion", 3),
    (LIBRARY, "Fairness and appeals", 3), (LIBRARY, "Loans and fairness", 0), (LIBRARY, "Interlibrary holds", 2),
    (LIBRARY, "Queues and holds", 2), (LIBRARY, "Interlibrary loans", 0), (LIBRARY, "Renewals", 1),
    (LIBRARY, "Audit drills", 4), (LIBRARY, "Multi-branch", 5),
    (COFFEE, "研磨粗细与萃取", 0), (COFFEE, "V60", 2), (COFFEE, "烘焙曲线", 3), (COFFEE, "奶泡质地", 4),
    (COFFEE, "refractometer", 1), (COFFEE, "萃取", 0), (COFFEE, "拼配比例", 5), (COFFEE, "养豆与拼配", 5),
    (COLONS, "排班：早班与主管", 0), (COLONS, "排班模型", 0), (COLONS, "C++ 内存", 1), (COLONS, "C# 线程", 2),
    (COLONS, "长途运输", 3), (COLONS, "RORO 与 LOLO", 3), (COLONS, "预报服务", 4),
    (BAKERY, "Communication", None), (RAIL, "Motivation", None), (LIBRARY, "Team and process", None),
    (COFFEE, "表达与沟通", None), (COFFEE, "项目真实性", None), (COLONS, "薪资预期", None), (COLONS, "Java 集合", None),
    (LIBRARY, "Fairness", None), (LIBRARY, "Interlibrary", None),
    (SERVING, "沟通表达", None), (SERVING, "基础知识", None), (SERVING, "工程习惯", None), (SERVING, "简历真实性", None),
    (BACKEND, "前端性能", None), (BACKEND, "团队协作", None), (BACKEND, "学习能力", None), (BACKEND, "项目经历", None),
    (ENGLISH, "Communication", None), (ENGLISH, "Table manners", None), (ENGLISH, "Career motivation", None),
    (ENGLISH, "Teamwork and ownership", None), (FRONTEND, "英语口语", None), (FRONTEND, "职业规划", None),
    (FRONTEND, "Soft skills", None), (SERVING, "Attitude", None),
]  # fmt: skip


def linked(key: str, titles: list[str]) -> int | None:
    line = f"{key}：只会背；不知道"
    colons = tuple(i for i, c in enumerate(line) if c in "：:")
    topic, _ = link([RedFlagLine(line, colons)], titles)[0]
    return topic


def score() -> tuple[float, float]:
    """Precision and recall of the links in the table."""
    right = sum(linked(key, titles) == topic for titles, key, topic in TABLE if topic is not None)
    made = sum(linked(key, titles) is not None for titles, key, _ in TABLE)
    return right / made, right / sum(topic is not None for _, _, topic in TABLE)


@pytest.mark.parametrize(("titles", "key", "topic"), TABLE, ids=[key for _, key, _ in TABLE])
def test_a_key_means_a_topic(titles, key, topic):
    assert linked(key, titles) == topic


def test_the_threshold_lies_where_the_table_is_split_best(monkeypatch, capsys):
    figures = {}
    for percent in (25, 35, 40, 45, 50, 55, 65, 75):
        monkeypatch.setattr(linking, "THRESHOLD", percent / 100)
        figures[percent] = score()
        with capsys.disabled():
            print(f"\n  linking threshold {percent / 100:.2f}: precision %.3f, recall %.3f" % figures[percent], end="")
    assert figures[45] == (1.0, 1.0)
    assert figures[25][0] < 1
    assert figures[75][1] < 1


def test_what_could_mean_two_topics_is_far_from_what_means_one():
    leads = {True: [], False: []}
    for titles, key, topic in TABLE:
        first, second = sorted((likeness(key, title, titles) for title in titles), reverse=True)[:2]
        if first >= linking.THRESHOLD:
            leads[topic is not None].append(first - second)
    assert max(leads[False]) < linking.MARGIN < min(leads[True]) / 2


@pytest.mark.parametrize(
    ("line", "titles", "topic", "key"),
    [
        ("Persistence: mappers and pools: sets the pool to 500", ENGLISH, 0, "Persistence: mappers and pools"),
        ("Persistence: sets the pool: 500", ENGLISH, 0, "Persistence"),
        ("Observability: logs, metrics: only logs", ENGLISH, 9, "Observability: logs, metrics"),
        ("幂等设计：以为：加锁就行", BACKEND, 7, "幂等设计"),
    ],
)
def test_the_key_is_found_by_comparing_and_not_by_the_first_colon(line, titles, topic, key):
    colons = tuple(i for i, c in enumerate(line) if c in "：:")
    assert link([RedFlagLine(line, colons)], titles) == [(topic, len(key))]


@pytest.mark.parametrize(
    ("line", "titles", "topic", "key"),
    [
        # What follows the first colon is a red flag, unless the heading itself holds a colon.
        ("缓存一致性：失效策略只会延时双删：背的", BACKEND, 0, "缓存一致性"),
        ("Caching: invalidation: never measured", ENGLISH, 1, "Caching"),
        ("排班模型：早班 / 晚班与主管：不知道 fork", COLONS, 0, "排班模型：早班 / 晚班与主管"),
        ("排班模型：不知道：fork", COLONS, 0, "排班模型"),
    ],
)
def test_no_text_of_a_red_flag_goes_into_the_key(line, titles, topic, key):
    colons = tuple(i for i, c in enumerate(line) if c in "：:")
    assert link([RedFlagLine(line, colons)], titles) == [(topic, len(key))]


def links(keys: list[str], titles: list[str], bodies: list[str] | tuple[()] = ()) -> list[int | None]:
    return [topic for topic, _ in link([RedFlagLine(f"{key}：只会背", (len(key),)) for key in keys], titles, bodies)]


def test_of_two_that_are_as_near_the_one_that_no_other_line_names():
    titles = ["缓存设计", "缓存淘汰"]
    assert links(["缓存"], titles) == [None]
    assert links(["缓存", "缓存淘汰"], titles) == [0, 1]
    assert links(["缓存设计", "缓存"], titles) == [0, 1]
    assert links(["缓存设计", "缓存淘汰", "缓存"], titles) == [0, 1, None]


def test_a_word_with_another_stem_is_not_recognised():
    """The known limit: such a line is kept on the pack with a warning, which is better than a wrong topic."""
    assert links(["Diverting"], RAIL) == [None]


def test_two_lines_may_belong_to_one_topic():
    assert links(["投机解码", "投机解码", "容量"], SERVING) == [0, 0, 8]


def test_a_key_that_only_one_topic_speaks_of():
    titles, bodies = ["肉类的熟成", "酱汁的乳化"], ["秤与 thermometer 看什么", "乳化消除什么分层"]
    assert links(["thermometer"], titles, bodies) == [0]
    assert links(["Thermometer"], titles, bodies) == [0]
    assert links(["meter"], titles, bodies) == [None], "only whole words count"
    assert links(["thermometer"], titles, ["看 thermometer", "也看 thermometer"]) == [None], "two topics speak of it"
    assert links(["熟成", "thermometer"], titles, bodies) == [0, None], "the topic has its own line"
    assert links(["分层"], titles, bodies) == [None], "two characters are too few"


def test_the_order_of_lines_and_of_topics_does_not_matter():
    keys = [key for titles, key, _ in TABLE if titles is SERVING]
    there = dict(zip(keys, links(keys, SERVING), strict=True))
    back = dict(zip(keys[::-1], links(keys[::-1], SERVING[::-1]), strict=True))
    last = len(SERVING) - 1
    assert there == {key: None if topic is None else last - topic for key, topic in back.items()}


def test_a_line_without_a_colon_belongs_nowhere():
    assert link([RedFlagLine("抢话", ())], SERVING) == [(None, None)]
