# SPDX-License-Identifier: BSD-3-Clause
"""The search of the site, which needs no server: an index of each part of each page, and what looks into it.

The index is a list of parts, (title, line, place), and for each word the numbers of the parts that have it. Those that are
names or headings are found by their title as well.
"""
import html
import json
import re

WORD = re.compile(r"[a-z_][a-z0-9_]+(?:-[a-z0-9_]+)*|c\+\+|[0-9]{3,}")
# Words that nobody looks for.
USUAL = set("the and for that this with from are not its has which when what who while where than then one two may can have "
            "only also other others there they each all any was were will been but see does".split())
SHOWN = 40
SCRIPT = """const box=document.getElementById('search'),found=document.getElementById('found');
const short=n=>n.toLowerCase().replace(/^abtx?(_|::)/,'');
const stem=w=>w.length>4?w.replace(/s$/,''):w,ALSO={threadpool:'pool'};
function withWord(word){const all=new Set();for(const key in WORDS)if(key.startsWith(word))WORDS[key].forEach(n=>all.add(n));
return all}
function rank(at,words,whole,sets){const n=PARTS[at][0].toLowerCase(),s=short(n),all=n+' '+PARTS[at][1].toLowerCase();
if(n===whole||s===whole)return 0;
if(PARTS[at][2].startsWith('doc/guide')&&words.includes(stem(n))&&sets.every(set=>set.has(at)))return 0;if(n.startsWith(whole)||s.startsWith(whole))return 1;
if(words.every(w=>n.includes(w)))return 2;if(words.every(w=>all.includes(w)))return 3;
return sets.every(set=>set.has(at))?4:9}
function find(text){const words=text.toLowerCase().split(/[\\s:-]+/).filter(Boolean).map(w=>ALSO[w]||stem(w));if(!words.length)return[];
const whole=words.join('_'),sets=words.map(withWord);
return PARTS.map((part,at)=>[rank(at,words,whole,sets),at]).filter(one=>one[0]<9).sort((a,b)=>a[0]-b[0]||a[1]-b[1])
.slice(0,SHOWN).map(one=>PARTS[one[1]])}
function show(){found.innerHTML='';if(!box.value.trim())return;const parts=find(box.value);
if(!parts.length)found.textContent='nothing found';
for(const [title,line,place] of parts){const li=document.createElement('li'),a=document.createElement('a');
a.href=ROOT+place;a.textContent=title;li.append(a,' '+line);found.append(li)}}
box.addEventListener('input',show);document.addEventListener('keydown',event=>{
if(event.key==='/'&&document.activeElement!==box){event.preventDefault();box.focus()}
const links=[box,...found.querySelectorAll('a')],at=links.indexOf(document.activeElement);
const next=at<0?0:links[at+({ArrowDown:1,ArrowUp:-1}[event.key]||0)];if(next&&at>=0&&next!==links[at]){event.preventDefault();next.focus()}
if(event.key==='Enter'&&document.activeElement===box&&found.querySelector('a'))found.querySelector('a').click()});
const side=document.getElementById('side'),wide=matchMedia('(min-width:50em)').matches;
for(const [title,links] of SIDE){const details=document.createElement('details'),
summary=document.createElement('summary');summary.textContent=title;details.append(summary);
for(const [name,place] of links){const a=document.createElement('a');a.href=ROOT+place;a.textContent=name;
if(a.href===location.href.replace(/#.*/,'')){a.className='here';details.open=wide}details.append(a)}side.append(details)}
if(!side.querySelector('.here'))side.querySelector('details').open=wide;
"""


class Index:
    def __init__(self):
        self.parts, self.words = [], {}

    def add(self, title, line, place, text=""):
        """A part of a page, found by the words of its title, of its line, and of its text."""
        words = set(WORD.findall(f"{title} {line} {text}".lower()))
        words |= {part for word in words for part in word.split("-")}
        for word in sorted(word for word in words - USUAL if len(word) > 2):
            self.words.setdefault(word, []).append(len(self.parts))
        self.parts.append((title, line, place))

    def add_page(self, title, line, place, body):
        """A page of HTML: one part for itself and each heading, and one for each question of a list."""
        pieces = re.split(r'<(?:h2|h3|li value="\d+") id="([^"]+)">', body)
        self.add(title, line, place, plain(pieces[0]))
        for anchor, piece in zip(pieces[1::2], pieces[2::2]):
            heading = plain(re.match(r"(.*?)</(?:h2|h3|strong)>", piece, re.S)[1])
            self.add(f"{title}: {heading}", "", f"{place}#{anchor}", plain(piece))

    def script(self, side):
        """What all pages load: the index, the links of the side bar, and the search."""
        data = {"PARTS": self.parts, "WORDS": self.words, "SIDE": side, "SHOWN": SHOWN}
        return "".join(f"const {name}={json.dumps(value, separators=(',', ':'))};\n" for name, value in data.items()) + SCRIPT


def plain(text):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", text)).split())
