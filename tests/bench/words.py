"""The words of the generated packs, and sentences of them: Chinese and English, mostly plain, with fixed seeds."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

_T = TypeVar("_T")


def _listed(text: str) -> tuple[str, ...]:
    return tuple(word for line in text.split("\n") for word in line.split("|") if word)


_ENGLISH_THINGS = _listed("""
cache|queue|index|log|shard|replica|lease|batch|stream|token|page|buffer|socket|thread|lock|snapshot|checkpoint|router
scheduler|planner|compactor|cursor|partition|watermark|bloom filter|write-ahead log|connection pool|load balancer
circuit breaker|rate limiter|retry budget|leader election|garbage collector|memory allocator|query optimiser|page table
prefix tree|event loop|dead letter queue|feature store|embedding table|attention kernel|gradient buffer|tensor core
""")
_ENGLISH_VERBS = _listed("""
loses|delays|duplicates|reorders|evicts|rebuilds|overflows|blocks|starves|invalidates|rebalances|throttles|shadows|splits
""")
_ENGLISH_CASES = _listed("""
under a burst of writes|after a leader is lost|when the clock steps back|with ten times the load|on a cold start
during a rolling upgrade|when one node is slow|at the ninety-ninth percentile|across two regions|with a full disk
while a backup runs|in the first minute after a failover|for a tenant that is far larger than all others
""")
_CHINESE_THINGS = _listed("""
缓存|队列|索引|日志|分片|副本|租约|批次|数据流|令牌|页表|缓冲区|连接|线程|锁|快照|检查点|路由|调度器|规划器|压缩任务|游标|分区|水位线
布隆过滤器|预写日志|连接池|负载均衡|熔断器|限流器|重试预算|选主过程|垃圾回收|内存分配器|查询优化器|前缀树|事件循环|死信队列|特征库|嵌入表
""")
_CHINESE_VERBS = _listed("丢掉|拖慢|重复|打乱|驱逐|重建|撑爆|阻塞|饿死|作废|搬动|限制|遮住|切开")
_CHINESE_CASES = _listed("""
写入突增的时候|主节点丢失以后|时钟回拨时|负载涨到十倍时|冷启动阶段|滚动升级期间|有一个慢节点时|在第九十九百分位上|跨两个地域时|磁盘写满时
备份进行当中|切换后的第一分钟里|有一个远大于其他人的租户时
""")
_ENGLISH_KINDS = _listed("""
adaptive|asynchronous|balanced|bounded|cold|compressed|concurrent|dedicated|deferred|degraded|dense|distributed|elastic
encrypted|ephemeral|exclusive|external|fair|federated|global|hashed|hierarchical|hybrid|idle|immutable|incremental
internal|isolated|layered|lazy|local|managed|mirrored|mutable|nested|offline|optimistic|ordered|paged|parallel|partial
pinned|pooled|preemptive|primary|private|quantised|random|regional|remote|replicated|resident|rolling|sampled|secondary
shared|sliding|sorted|sparse|speculative|stale|static|streaming|synchronous|tiered|transient|uniform|virtual|volatile|warm
""")
_ENGLISH_SOUNDS = _listed(
    "ar|bel|cor|dun|el|fer|gal|hol|in|jor|kel|lam|mor|nar|ost|per|quil|ros|sten|tur|ul|ven|wes|yar|zen"
)
_CHINESE_SIGNS = (
    "安保备本比编变标并步部测层查差超程持冲存单导点定动断端队对多发反范放分风服负复改概高根公共构关管规合后互环换恢活机基级集计记加间监减简检"
    "渐交角接节结解界紧尽静局均开控快宽扩类冷离理历连量列临流路率乱轮慢密面命模内能配片平迁强切清区全权热任容入散上审升生失时识实示事收手书输数"
    "私速算随损缩锁态提条停通同统图推外完网维文稳握无物误系细显线限相向消协写心信行型修虚序选压验样移异引映应用优预域原源约匀运载造增展占整证值"
    "指制质中终重周主住注转状准资自总组最作"
)
_CODE = ("`p99`", "`fsync()`", "`List<T>`", "`a && b`", "`SELECT 1`", "`ttl=60`", "`retry(3)`", "`epoch`")
_MATH = (r"$O(n \log n)$", r"$\lambda W$", r"$p^2$", r"$1-\alpha^k$", r"$\frac{1}{1-\rho}$", "$2Ps$")
_ODD = ("a < b", "C++", "x & y", "snake_case_name", "2 * 3", "#1", "~/.cache", "50%")


@dataclass
class Words:
    """A source of sentences, the same for the same ``seed``; no sentence comes twice from one source."""

    seed: str
    chinese: bool
    _random: random.Random = field(init=False, repr=False)
    _given: set[str] = field(default_factory=set, repr=False)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def chance(self, share: float) -> bool:
        """True for this share of the calls."""
        return self._random.random() < share

    def number(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def one_of(self, choices: Sequence[_T]) -> _T:
        """One of the choices. Of the random source only random() is used: no other method is promised to stay."""
        return choices[int(self._random.random() * len(choices))]

    def thing(self) -> str:
        """A noun; half of them with an adjective or a name, or in Chinese with a word of two random characters."""
        draw = self._random.random()
        if self.chinese:
            noun = self.one_of(_CHINESE_THINGS)
            return f"{self.one_of(_CHINESE_SIGNS)}{self.one_of(_CHINESE_SIGNS)}{noun}" if draw < 0.6 else noun
        noun = self.one_of(_ENGLISH_THINGS)
        if draw < 0.35:
            return f"{self.one_of(_ENGLISH_KINDS)} {noun}"
        return f"{self._name()} {noun}" if draw < 0.6 else noun

    def _name(self) -> str:
        """A name that nobody has heard of."""
        return "".join(self.one_of(_ENGLISH_SOUNDS) for _ in range(self.number(2, 3))).capitalize()

    def title(self) -> str:
        """A topic's title."""
        joint = " 与 " if self.chinese else " and "
        return self._once(lambda: f"{self.thing()}{joint}{self.thing()}")

    def sentence(self) -> str:
        """About a dozen English words or 25 Chinese characters; a sixth of them hold code, math or odd characters."""
        return self._once(self._chinese if self.chinese else self._english)

    def clause(self) -> str:
        """A short statement, as a key point is one."""
        return self._once(lambda: f"{self.thing()}{self._verb()}{self.thing()}{self._extra()}")

    def _verb(self) -> str:
        if self.chinese:
            return f"会{self.one_of(_CHINESE_VERBS)}"
        return f" {self.one_of(_ENGLISH_VERBS)} the "

    def _english(self) -> str:
        verb, case = self.one_of(_ENGLISH_VERBS), self.one_of(_ENGLISH_CASES)
        first = self.one_of(("why", "how", "when", "what tells you that", "what it costs that"))
        return f"{first} the {self.thing()} {verb} the {self.thing()}{self._extra()} {case}"

    def _chinese(self) -> str:
        first = self.one_of(("为什么", "怎样", "什么情况下", "怎么看出", "要付什么代价才能避免"))
        text = f"{self.one_of(_CHINESE_CASES)}{self.thing()}{first}{self.one_of(_CHINESE_VERBS)}{self.thing()}"
        return f"{text}{self._extra()}，{self.thing()}会不会跟着变"

    def _extra(self) -> str:
        draw = self._random.random()
        for share, words in ((0.08, _CODE), (0.11, _MATH), (0.16, _ODD)):
            if draw < share:
                return f" {self.one_of(words)}"
        return f" **{self.thing()}**" if draw < 0.18 else ""

    def _once(self, draw: Callable[[], str]) -> str:
        for _ in range(100):
            text = draw()
            if text not in self._given:
                self._given.add(text)
                return text
        text = f"{draw()} {len(self._given)}"
        self._given.add(text)
        return text
