"""Notes as later releases will fill them: answers with code, math, tables and pictures, in both languages, and none."""

from pathlib import Path

from drill_samples import documented, drill_notes, seed_drill
from package_samples import make

from ladderdeck.building.inputs import read_inputs
from ladderdeck.composing.compose import compose
from ladderdeck.rendering.rich import render_rich, work_of
from ladderdeck.values.model import Kind, Position, Text
from ladderdeck.values.note import IdentifiedNote

SEED = Path(__file__).parents[1] / "cards" / "llm-inference-serving" / "SKILL.md"
CURVE = (
    "data:image/svg+xml,"
    "%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 600 240'%3E%3Cg fill='none' stroke='black' stroke-width='3'%3E"
    "%3Cpath d='M60 20V200H580'/%3E%3Cpath stroke-dasharray='8 8' d='M60 130H580'/%3E"
    "%3Cpath stroke-width='6' d='M60 40C200 45 300 110 360 130S500 155 580 158'/%3E%3C/g%3E"
    "%3Cg font-size='24' font-family='sans-serif'%3E%3Ctext x='560' y='230'%3E64%3C/text%3E%3Ctext x='60' y='230'%3E1%3C/text%3E"
    "%3Ctext x='280' y='230'%3Ebatch%3C/text%3E%3Ctext x='6' y='138'%3E1.0%3C/text%3E%3Ctext x='6' y='48'%3E2.4%3C/text%3E"
    "%3C/g%3E%3C/svg%3E"
)


def item(text: str, must: bool = False) -> str:
    return f'<li class="text{" must" if must else ""}" dir="auto">{text}</li>'


def block(text: str) -> str:
    return f'<div class="text" dir="auto">{text}</div>'


def steps(here: int | None, count: int) -> str:
    names = ("" if here is None or i > here else "here" if i == here else "below" for i in range(count))
    bars = "".join(f'<i class="{name}"></i>' if name else "<i></i>" for name in names)
    return f'<span class="steps" aria-hidden="true">{bars}</span>'


CODE = (
    '<pre dir="ltr"><code class="language-python"><span class="c1"># accept while a draw stays below the ratio</span>\n'
    '<span class="k">def</span> <span class="nf">accept</span>(p, q, token, draw):\n'
    '    <span class="k">return</span> draw &lt; <span class="nb">min</span>(<span class="mi">1</span>, p[token] / q[token])'
    '  <span class="c1"># and this remark runs far beyond the edge of any telephone</span>\n'
    '<span class="n">name</span> = <span class="s2">"draft"</span> <span class="err">?</span></code></pre>'
)
TABLE = (
    "<table><thead><tr><th>batch</th><th>不投机</th><th>投机 k=4</th><th>加速</th><th>接受率</th><th>TTFT</th><th>TPOT</th>"
    "<th>备注</th></tr></thead><tbody><tr><td>1</td><td>42 tok/s</td><td>101 tok/s</td><td>2.4×</td><td>0.78</td>"
    "<td>180 ms</td><td>9.9 ms</td><td>带宽受限，几乎白算</td></tr><tr><td>64</td><td>1 900 tok/s</td><td>1 750 tok/s</td>"
    "<td>0.92×</td><td>0.77</td><td>420 ms</td><td>36 ms</td><td>算力已满，验证要排队</td></tr></tbody></table>"
)
WIDE = (
    r"\[ \mathbb{E}[n] = \frac{1-\alpha^{k+1}}{1-\alpha}, \qquad S = \frac{1-\alpha^{k+1}}{(1-\alpha)(1 + k c)},"
    r" \qquad \alpha = \sum_{x} \min\bigl(p(x), q(x)\bigr), \qquad c = \frac{T_{\text{draft}}}{T_{\text{target}}} \]"
)
ANSWER = (
    "<p>一次前向验证 \\( k \\) 个草稿 token，期望产出是</p>" + WIDE + "<p>其中 \\( \\alpha \\) 是接受率，"
    "<code>c</code> 是草稿与目标模型的单步耗时比。见 <code>speculative_config.num_speculative_tokens</code>。</p>"
    + CODE
    + TABLE
    + f'<p><img src="{CURVE}" alt="加速比随 batch 下降，在 32 附近越过 1" width="900" height="360"></p>'
    "<p>https://example.org/a/very/long/path/that/never/ends/and/has/no/place/to/break/at/all?query=0123456789</p>"
)
POINTS = "<ul>{}</ul>".format(
    item("验证是一次前向：<code>k+1</code> 个位置并行算出概率", must=True)
    + item(
        "加速比 <span class='together'>\\( S = \\frac{1-\\alpha^{k+1}}{(1-\\alpha)(1+kc)} \\)，</span>由接受率和草稿长度决定",
        must=True,
    )
    + item("拒绝采样保证输出分布不变；<b>贪心</b>时退化为逐个比对")
    + item('batch 大时算力不再空闲，收益消失（<a href="https://example.org/paper">论文第 4 节</a>）')
)
CHINESE = {
    "Question": "<ul>{}</ul>".format(
        item("加速比由什么决定？写出它和接受率、草稿长度的关系") + item("什么分布下接受率低；batch 大时为什么收益消失")
    ),
    "Topic": block("投机解码"),
    "Pack": "llm-inference-serving",
    "Language": "zh-CN",
    "Place": steps(2, 4) + "3 / 4",
    "Earlier": "<ol><li>"
    + block("为什么 decode 阶段有“白算”的空间")
    + "</li><li>"
    + block("草稿模型 / n-gram / 自草稿（Medusa、EAGLE 类）各怎么产生候选，验证怎么一次前向完成")
    + "</li></ol>",
    "Next": block("验证的显存与算力成本、和 continuous batching 的冲突、什么业务值得开"),
    "Ladder": "<ol>{}</ol>".format(
        "".join(
            f"<li>{block(text)}</li>"
            for text in ("为什么有“白算”的空间", "各怎么产生候选", "加速比由什么决定", "成本、冲突、什么业务值得开")
        )
    ),
    "Key Points": POINTS,
    "Answer": ANSWER,
    "Follow Up": f"<ul>{item('草稿怎么产生')}{item('接受率')}{item('什么分布下加速消失')}{item('和 batch 的冲突')}</ul>",
    "Signs": f"<ul>{item('能写出加速比与接受率的关系')}{item('知道输出分布不变的保证来自拒绝采样')}</ul>",
    "Red Flags": f"<ul>{item('只会“小模型猜”')}{item('说不出接受率决定加速比')}{item('不知道 batch 大时收益消失')}</ul>",
    "Sources": f"<ul>{item('<a href=https://example.org/x>Leviathan et al., Fast Inference, 2023</a>')}</ul>",
    "Provenance": "llm-inference-serving · git:20260920.a4843f5A · 4e99f4872715f3ce",
}
WRITTEN = """## What is read

Every step reads **all weights** and the whole KV cache; `bytes_per_token_of_one_sequence` counts:

```calc
layers = 80
heads = 8
size = 128
width = 2 byte
per_token = 2 * layers * heads * size * width  # K and V
```

So [320 KiB](#per_token) a token.

```python
def ridge(flops: float, bandwidth: float) -> float:
    return flops / bandwidth  # FLOP a byte: above it compute is the limit, whatever the batch
```

> A quotation that is long enough to be broken into two lines on a telephone.

| GPU | dense BF16 | HBM | bandwidth | ridge | at batch 1 | remark |
| --- | ---: | ---: | ---: | ---: | --- | --- |
| H100 SXM | 989 TFLOP/s | 80 GB | 3.35 TB/s | 295 FLOP/B | memory | without sparsity, as in the data sheet's footnote |

$$t = \\frac{\\text{weights} + \\text{KV cache of all sequences in the batch}}{\\text{bandwidth}} + t_{\\text{launch}} + t_{\\text{all-reduce}}$$

1. first
2. second, with $x_1$ in it
   - nested
"""


def written() -> str:
    """The details of an answer as they come out of its Markdown."""
    source = Text(WRITTEN, Position("answers.md"))
    worked, _ = work_of(source)
    return render_rich(source, worked, {}, lambda destination, position: None).html


ENGLISH = CHINESE | {
    "Question": block("Why does throughput stop growing with the batch, although <code>vector&lt;int&gt;</code> fits?"),
    "Topic": block("Batching and the roofline of a very_long_identifier_that_has_no_blank_anywhere_in_it"),
    "Language": "en",
    "Earlier": "<ol><li>" + block("What is a batch, and what does it share?") + "</li></ol>",
    "Next": "",
    "Place": steps(3, 4) + "4 / 4",
    "Key Points": f"<ul>{item('Weights are read once a step')}{item('Above the ridge compute is the limit')}"
    f"{item('مرحبا <code dir=ltr>x = 1</code> بالعالم!')}</ul>",
    "Answer": written(),
    "Notice": "This text is no longer in its pack. You may suspend or delete this card.",
    "Extra": block("A note of one's own"),
}
BARE = {name: CHINESE[name] for name in ("Question", "Topic", "Pack", "Language")}
NO_ANSWER = {name: text for name, text in CHINESE.items() if name not in ("Key Points", "Answer", "Sources")}


def place_for(kind: Kind, fields: dict[str, str]) -> dict[str, str]:
    """Only rungs and ladders have a place."""
    if kind is Kind.RUNG or "Place" not in fields:
        return fields
    return fields | {"Place": steps(None, 4) + '<span class="number">4</span>' if kind is Kind.LADDER else ""}


def fields_for(kind: Kind, name: str, fields: dict[str, str]) -> dict[str, str]:
    """The fields of a sample as its kind has them: a drill has its own, and none of an answer's."""
    if kind is not Kind.DRILL or name == "bare":
        return place_for(kind, fields)
    note = drill_notes(documented())[0] if name == "english" else seed_drill()
    own = {"Notice": ENGLISH["Notice"], "Extra": ENGLISH["Extra"]} if name == "english" else {}
    bare = ("Ladder", "Earlier", "Follow Up", "Next", "Place") if name == "no-answer" else ()
    return {key: text for key, text in {**note.fields, **own}.items() if key not in bare}


def sample_notes() -> list[IdentifiedNote]:
    """Four notes of each kind: with all that an answer can hold in Chinese and in English, without an answer, and bare."""
    kinds = {"chinese": CHINESE, "english": ENGLISH, "no-answer": NO_ANSWER, "bare": BARE}
    return [
        make(kind, fields=fields_for(kind, name, fields), guid=f"{kind.value}-{name}")
        for kind in Kind
        for name, fields in kinds.items()
    ]


def seed_notes() -> list[IdentifiedNote]:
    """The notes of the pack that the project comes with, in order and with their answers."""
    inputs = read_inputs([SEED.parent], None)
    notes = compose(inputs.library.packs, inputs.settings, inputs.answer_html)
    return [IdentifiedNote(note, f"seed-{number}", 1_700_000_000) for number, note in enumerate(notes)]
