"""Writes logs of several shapes with invented words and numbers, after the documents of the tools and services.

    python3 tests/data/shapes/make.py     # writes beside itself
"""

import json, pathlib, random
r=random.Random(59)
W="ember saffron zephyr cedar inlet dune pebble orchard umber meadow grove amber nectar thicket willow yarrow harbor knoll ridge lagoon vale quartz jasper fjord basil".split()
def words(n): return ' '.join(r.choice(W) for _ in range(n))
D=str(pathlib.Path(__file__).resolve().parent)+'/'
def out(name,rows,sep=', '):
    open(D+name,'w').write(''.join(json.dumps(x)+'\n' for x in rows))
# gemini stream
ts=lambda m,s: f"2026-10-05T09:{m:02}:{s:02}.000Z"
rows=[{"type":"init","timestamp":ts(0,0),"session_id":"00000000-0000-4000-8000-0000000000d1","model":"gemini-3.1-pro-preview"},
 {"type":"message","timestamp":ts(0,1),"role":"user","content":words(30)}]
for i in range(3):
    rows.append({"type":"message","timestamp":ts(1,10*i+2),"role":"assistant","content":words(6),"delta":True})
    rows.append({"type":"message","timestamp":ts(1,10*i+3),"role":"assistant","content":' '+words(6),"delta":True})
    rows.append({"type":"tool_use","timestamp":ts(1,10*i+4),"tool_name":"read_file","tool_id":f"read_file-{i}","parameters":{"file_path":f"{W[i]}.txt"}})
    if i==1: rows.append({"type":"tool_use","timestamp":ts(1,10*i+4),"tool_name":"run_shell_command","tool_id":"shell-1","parameters":{"command":"ls"}})
    rows.append({"type":"tool_result","timestamp":ts(1,10*i+5),"tool_id":f"read_file-{i}","status":"success","output":words(80)})
    if i==1: rows.append({"type":"tool_result","timestamp":ts(1,10*i+6),"tool_id":"shell-1","status":"error","error":{"type":"shell","message":words(8)}})
rows.append({"type":"error","timestamp":ts(1,40),"severity":"warning","message":words(5)})
rows.append({"type":"message","timestamp":ts(1,41),"role":"assistant","content":words(20),"delta":True})
rows.append({"type":"result","timestamp":ts(1,42),"status":"success","stats":{"total_tokens":43000,"input_tokens":42400,"output_tokens":380,"cached":24576,"input":17824,"duration_ms":62000,"tool_calls":4}})
out('gemini-stream.jsonl',rows)
# No file: drawn so that what follows keeps its words
sysi={"parts":[{"text":words(60)}]}
tools=[{"functionDeclarations":[{"name":"read_file","description":words(10),"parameters":{"type":"OBJECT"}},{"name":"ls","description":words(8)}]}]
c=[{"role":"user","parts":[{"text":words(40)}]}]
rows=[]
def resp(parts,p,cd,th,ca): return {"candidates":[{"content":{"role":"model","parts":parts},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":p,"candidatesTokenCount":cd,"thoughtsTokenCount":th,"cachedContentTokenCount":ca,"totalTokenCount":p+cd+th},"modelVersion":"gemini-2.5-flash"}
def req(t,resp): rows.append({"timestamp":f"2026-10-06T10:00:{t:02}Z","model":"gemini-2.5-flash","request":{"systemInstruction":sysi,"tools":tools,"contents":json.loads(json.dumps(c))},"response":resp})
p1=[{"text":words(8),"thought":True},{"functionCall":{"name":"read_file","args":{"path":"a.txt"}}},{"functionCall":{"name":"read_file","args":{"path":"b.txt"}}}]
req(0,resp(p1,2300,40,12,0))
c.append({"role":"model","parts":p1[1:]}); c.append({"role":"user","parts":[{"functionResponse":{"name":"read_file","response":{"output":words(60)}}},{"functionResponse":{"name":"read_file","response":{"output":words(70)}}}]})
p2=[{"functionCall":{"name":"ls","args":{}}}]
# in pieces
req(8,[{"candidates":[{"content":{"role":"model","parts":[{"text":words(5)}]}}]},resp(p2,2700,30,0,2048)])
c.append({"role":"model","parts":[rows[-1]["response"][0]["candidates"][0]["content"]["parts"][0]]+p2}); c.append({"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"files":["a","b"]}}}]})
p3=[{"text":words(30)}]
req(15,resp(p3,2790,60,5,2048))
c.append({"role":"model","parts":p3}); c.append({"role":"user","parts":[{"text":words(12)}]})
req(40,resp([{"text":words(10)}],2880,20,0,2048))
# Converse
sysc=[{"text":words(60)},{"cachePoint":{"type":"default"}}]
tc={"tools":[{"toolSpec":{"name":"read_file","description":words(8),"inputSchema":{"json":{"type":"object"}}}},{"cachePoint":{"type":"default"}}]}
m=[{"role":"user","content":[{"text":words(40)},{"cachePoint":{"type":"default"}}]}]
rows=[]
def creq(t,content,i,o,rd,wr):
    rows.append({"timestamp":f"2026-10-07T10:00:{t:02}Z","modelId":"global.anthropic.claude-opus-5","system":sysc,"toolConfig":tc,"messages":json.loads(json.dumps(m)),"response":{"output":{"message":{"role":"assistant","content":content}},"stopReason":"end_turn","usage":{"inputTokens":i,"outputTokens":o,"totalTokens":i+o+rd+wr,"cacheReadInputTokens":rd,"cacheWriteInputTokens":wr,"cacheDetails":[{"ttl":"5m","inputTokens":wr}]},"metrics":{"latencyMs":900}}})
a1=[{"reasoningContent":{"reasoningText":{"text":words(9),"signature":"x"}}},{"text":words(6)},{"toolUse":{"toolUseId":"t1","name":"read_file","input":{"path":"a.txt"}}}]
creq(0,a1,4,90,0,3000)
m.append({"role":"assistant","content":a1}); m.append({"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":words(50)},{"json":{"lines":3}}],"status":"success"}},{"cachePoint":{"type":"default"}}]})
a2=[{"text":words(20)}]
creq(9,a2,4,60,3000,240)
out('bedrock-converse.jsonl',rows)
# Bedrock's own log
def inv(t,op,body,outb): return {"schemaType":"ModelInvocationLog","schemaVersion":"1.0","timestamp":f"2026-10-08T10:00:{t:02}Z","accountId":"000000000000","region":"us-east-1","requestId":f"r{t}","operation":op,"modelId":"arn:aws:bedrock:us-east-1:000000000000:inference-profile/us.anthropic.claude-opus-5","input":{"inputContentType":"application/json","inputBodyJson":body},"output":{"outputContentType":"application/json","outputBodyJson":outb}}
b={"messages":[{"role":"user","content":[{"text":words(30)}]}],"system":[{"text":words(30)}]}
rows=[inv(1,"Converse",b,{"output":{"message":{"role":"assistant","content":[{"text":words(10)}]}},"usage":{"inputTokens":700,"outputTokens":25,"totalTokens":725,"cacheReadInputTokens":0,"cacheWriteInputTokens":0}}),
 inv(30,"InvokeModel",{"anthropic_version":"bedrock-2023-05-31","max_tokens":100,"system":words(20),"messages":[{"role":"user","content":words(20)}]},{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-5","content":[{"type":"text","text":words(9)}],"usage":{"input_tokens":9,"cache_creation_input_tokens":500,"cache_read_input_tokens":0,"output_tokens":21}})]
out('bedrock-invocations.jsonl',rows)
# claude verbose
sid="00000000-0000-4000-8000-0000000000bc"
rows=[{"type":"system","subtype":"init","cwd":"/root","session_id":sid,"tools":["Read"],"model":"claude-opus-4-5-20251101","claude_code_version":"2.1.19","uuid":"u0"}]
rd=0
for i,wr in enumerate([15000,420,300]):
    u={"input_tokens":1,"cache_creation_input_tokens":wr,"cache_read_input_tokens":rd,"cache_creation":{"ephemeral_5m_input_tokens":wr,"ephemeral_1h_input_tokens":0},"output_tokens":1}
    rd+=wr
    msg=lambda c:{"type":"assistant","message":{"model":"claude-opus-4-5-20251101","id":f"msg_{i}","type":"message","role":"assistant","content":[c],"stop_reason":None,"usage":u},"parent_tool_use_id":None,"session_id":sid,"uuid":f"a{i}{c['type']}"}
    rows.append(msg({"type":"text","text":words(10)}))
    if i<2:
        rows.append(msg({"type":"tool_use","id":f"toolu_{i}","name":"Read","input":{"file_path":f"/root/{W[i]}.txt"}}))
        rows.append({"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":f"toolu_{i}","content":words(90)}]},"parent_tool_use_id":None,"session_id":sid,"uuid":f"r{i}"})
rows.append({"type":"result","subtype":"success","is_error":False,"num_turns":3,"result":"done","session_id":sid,"total_cost_usd":0.12,"usage":{"input_tokens":3,"cache_creation_input_tokens":15720,"cache_read_input_tokens":30420,"output_tokens":260}})
open(D+'claude-code-verbose.json','w').write(json.dumps(rows,separators=(',',':'))+'\n')
# Langfuse, as its API pages them: without texts, and with messages
def lf(i,t,inp,ca,wr,o,rs,ty="GENERATION",**k): return {"id":f"o{i}","traceId":"t1","sessionId":"s1","type":ty,"name":"chat","startTime":f"2026-10-09T10:00:{t:02}.000Z","completionStartTime":f"2026-10-09T10:00:{t+1:02}.000Z","endTime":f"2026-10-09T10:00:{t+3:02}.000Z","model":"claude-opus-5","usageDetails":{"input":inp,"output":o,"cache_read_input_tokens":ca,"cache_creation_input_tokens":wr,"total":inp+ca+wr+o},"costDetails":{"total":0.01},**k}
open(D+'langfuse-observations.json','w').write(json.dumps({"data":[lf(0,0,0,0,0,0,0,"SPAN"),lf(1,2,4,0,5200,120,0),lf(2,9,4,5200,430,90,0),lf(3,30,4,5630,210,60,0)],"meta":{"page":1}})+'\n')
u=[{"role":"system","content":words(30)},{"role":"user","content":words(20)}]
rows=[]
a={"role":"assistant","content":words(8),"tool_calls":[{"id":"c1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a.txt\"}"}}]}
def lfm(i,t,inp,ca,o,msgs,out): return {**lf(i,t,inp,ca,0,o,0),"model":"gpt-5.6-sol","usageDetails":{"input":inp,"input_cached_tokens":ca,"output":o,"output_reasoning_tokens":10,"total":inp+ca+o+10},"input":json.loads(json.dumps(msgs)),"output":out}
rows.append(lfm(1,0,1500,0,50,u,a)); u+= [a,{"role":"tool","tool_call_id":"c1","content":words(40)}]
rows.append(lfm(2,9,190,1408,40,u,{"role":"assistant","content":words(12)}))
out('langfuse-messages.jsonl',rows)
# LangSmith
def ls(i,t,p,cr,cw,o,rs,kind="llm"): return {"id":f"r{i}","trace_id":"tr1","run_type":kind,"name":"ChatOpenAI","start_time":f"2026-10-10T10:00:{t:02}.120000","end_time":f"2026-10-10T10:00:{t+4:02}.000000","first_token_time":None,"inputs":{},"outputs":{},"extra":{"metadata":{"ls_provider":"openai","ls_model_name":"gpt-5.6-sol","thread_id":"th1"}},"prompt_tokens":p,"completion_tokens":o,"total_tokens":p+o,"prompt_token_details":{"cache_read":cr,"cache_creation":cw},"completion_token_details":{"reasoning":rs},"total_cost":0.002}
out('langsmith-runs.jsonl',[ls(0,0,9000,0,0,400,0,"chain"),ls(1,1,4000,0,3840,200,64),ls(2,9,4400,3840,512,150,0),ls(3,30,4700,4352,256,90,0)])
# Phoenix, flat as a table of spans is
def ph(i,t,p,cr,cw,o,kind="LLM"): return {"name":"llm","span_kind":kind,"parent_id":"","start_time":f"2026-10-11T10:00:{t:02}.000000+00:00","end_time":f"2026-10-11T10:00:{t+2:02}.000000+00:00","context.trace_id":"p1","context.span_id":f"s{i}","attributes.session.id":"se1","attributes.llm.model_name":"claude-opus-5","attributes.llm.token_count.prompt":p,"attributes.llm.token_count.completion":o,"attributes.llm.token_count.prompt_details.cache_read":cr,"attributes.llm.token_count.prompt_details.cache_write":cw}
import csv,io
rows=[ph(0,0,None,None,None,None,"AGENT"),ph(1,1,5100,0,5090,100),ph(2,8,5600,5090,500,80),ph(3,20,5900,5590,300,70)]
b=io.StringIO(); w=csv.DictWriter(b,rows[0].keys()); w.writeheader(); w.writerows(rows)
open(D+'phoenix-spans.csv','w').write(b.getvalue().replace('\r\n','\n'))
# No file: drawn so that what follows keeps its words
def am(i,role,content,u=None):
    return {"role":role,"messageId":i,"content":content,**({"usage":u} if u else {"meta":{"sentAt":1791799200000+i*4000}})}
def au(i,inp,wr,rd,o): return {"model":"claude-opus-5","inputTokens":inp,"outputTokens":o,"cacheCreationInputTokens":wr,"cacheReadInputTokens":rd,"totalInputTokens":inp+wr+rd,"timestamp":f"2026-10-12T10:00:{i*4:02}.000Z"}
t={"v":3,"id":"T-00000000-0000-4000-8000-0000000000a1","created":1791799200000,"messages":[
 am(0,"user",[{"type":"text","text":words(25)}]),
 am(1,"assistant",[{"type":"thinking","thinking":words(12),"signature":"x"},{"type":"text","text":words(6)},{"type":"tool_use","id":"toolu_1","name":"Read","input":{"path":"/a.txt"}}],au(1,10,9860,0,178)),
 am(2,"user",[{"type":"tool_result","toolUseID":"toolu_1","run":{"status":"done","result":{"content":words(60)}}}]),
 am(3,"assistant",[{"type":"text","text":words(15)}],au(3,5,420,9860,42))],
 "title":words(3)}
# opencode: the same sessions as exported, and as its database keeps them (anomalyco/opencode, packages/opencode/src/session/session.sql.ts)
import sqlite3,os
at=1791885600000
def oinfo(i,ses,role,t,**k): return {"id":f"msg_{ses[-2:]}{i:02}","sessionID":ses,"role":role,"time":{"created":t},**k}
def otok(i,o,rs,rd,wr): return {"total":i+o+rs+rd+wr,"input":i,"output":o,"reasoning":rs,"cache":{"read":rd,"write":wr}}
def osession(ses,parent,n,t):
    ms=[{"info":oinfo(0,ses,"user",t,agent="build"),"parts":[{"type":"text","text":words(400 if n>2 else 20)}]}]
    rd=0
    for i in range(1,n+1):
        fresh,wr=40+i,2600 if i==1 else 300
        parts=[{"type":"step-start"},{"type":"reasoning","text":words(9)},{"type":"text","text":words(12)}]
        if i<n: parts.append({"type":"tool","callID":f"call_{i}","tool":"read","state":{"status":"completed","input":{"filePath":f"/work/inlet/{W[i]}.txt"},"output":words(70),"title":"","metadata":{},"time":{"start":t+i*9000+2000,"end":t+i*9000+2500}}})
        parts.append({"type":"step-finish","reason":"stop","cost":0.004,"tokens":otok(fresh,60+i,8,rd,wr)})
        ms.append({"info":oinfo(i,ses,"assistant",t+i*9000,parentID=ms[0]["info"]["id"],modelID="claude-sonnet-4-5",providerID="anthropic",mode="build",cost=0.004,tokens=otok(fresh,60+i,8,rd,wr),finish="tool-calls" if i<n else "stop"),"parts":parts})
        ms[-1]["info"]["time"]["completed"]=t+i*9000+4000
        rd+=wr
    for m in ms:
        for j,p in enumerate(m["parts"]): p.update({"id":f"prt_{m['info']['id'][4:]}{j:02}","sessionID":ses,"messageID":m["info"]["id"]})
    return {"info":{"id":ses,"parentID":parent,"directory":"/work/inlet","title":words(3),"version":"1.18.16","time":{"created":t,"updated":t+99000}},"messages":ms}
sessions=[osession("ses_00000000000000000000a1",None,5,at),osession("ses_00000000000000000000b2","ses_00000000000000000000a1",2,at+30000)]
open(D+'opencode-export.jsonl','w').write(''.join(json.dumps(x,separators=(',',':'))+'\n' for x in sessions))
SCHEMA="""CREATE TABLE `project` (`id` text PRIMARY KEY, `worktree` text NOT NULL);
CREATE TABLE `session` (`id` text PRIMARY KEY, `project_id` text NOT NULL, `parent_id` text, `slug` text NOT NULL, `directory` text NOT NULL, `title` text NOT NULL, `version` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL, CONSTRAINT `fk` FOREIGN KEY (`project_id`) REFERENCES `project`(`id`) ON DELETE CASCADE);
CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL, CONSTRAINT `fk` FOREIGN KEY (`session_id`) REFERENCES `session`(`id`) ON DELETE CASCADE);
CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text NOT NULL, `session_id` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL);
CREATE INDEX `part_message_id_id_idx` ON `part` (`message_id`,`id`);"""
def without(x,*keys): return json.dumps({k:v for k,v in x.items() if k not in keys},separators=(',',':'))
def put(db,s,messages):
    i=s["info"]; db.execute("INSERT OR IGNORE INTO session VALUES (?,?,?,?,?,?,?,?,?)",(i["id"],"p1",i["parentID"],"slug",i["directory"],i["title"],i["version"],i["time"]["created"],i["time"]["updated"]))
    for m in messages:
        t=m["info"]["time"]["created"]
        db.execute("INSERT INTO message VALUES (?,?,?,?,?)",(m["info"]["id"],i["id"],t,t,without(m["info"],"id","sessionID")))
        for p in reversed(m["parts"]): db.execute("INSERT INTO part VALUES (?,?,?,?,?,?)",(p["id"],m["info"]["id"],i["id"],t,t,without(p,"id","sessionID","messageID")))
def fresh(name,mode,page=512):
    for end in ("","-wal","-shm"): pathlib.Path(D+name+end).unlink(missing_ok=True)
    db=sqlite3.connect(D+name); db.executescript(f"PRAGMA page_size={page}; PRAGMA journal_mode={mode}; PRAGMA wal_autocheckpoint=0;")
    return db
db=fresh('opencode.db','delete'); db.executescript(SCHEMA); db.execute("INSERT INTO project VALUES ('p1','/work/inlet')")
for s in sessions: put(db,s,s["messages"])
db.commit(); db.close()
# The same in the middle of work: the last messages stand in the log alone, one of them changed once, and one is not finished.
db=fresh('opencode-open.db','wal'); db.executescript(SCHEMA); db.execute("INSERT INTO project VALUES ('p1','/work/inlet')")
put(db,sessions[0],sessions[0]["messages"][:3]); db.commit(); db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
put(db,sessions[0],sessions[0]["messages"][3:]); put(db,sessions[1],sessions[1]["messages"]); db.execute("UPDATE message SET data='{}' WHERE id='msg_b202'"); db.commit()
db.execute("UPDATE message SET data=? WHERE id='msg_b202'",(without(sessions[1]["messages"][2]["info"],"id","sessionID"),)); db.commit()
db.execute("PRAGMA cache_size=1"); db.execute("BEGIN"); db.execute("UPDATE part SET data='{}'")
copies={end:pathlib.Path(D+'opencode-open.db'+end).read_bytes() for end in ("","-wal")}
db.rollback(); db.close()
for end in ("-wal","-shm"): pathlib.Path(D+'opencode-open.db'+end).unlink(missing_ok=True)
for end,b in copies.items(): pathlib.Path(D+'opencode-open.db'+end).write_bytes(b)
# ZCode's table of requests (getagentseal/codeburn, docs/providers/zcode.md)
db=fresh('zcode.sqlite','delete'); db.executescript("CREATE TABLE session (id TEXT PRIMARY KEY, directory TEXT NOT NULL); CREATE TABLE model_usage (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, turn_id TEXT, model_id TEXT NOT NULL, input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0, reasoning_tokens INTEGER NOT NULL DEFAULT 0, cache_creation_input_tokens INTEGER NOT NULL DEFAULT 0, cache_read_input_tokens INTEGER NOT NULL DEFAULT 0, started_at INTEGER NOT NULL, completed_at INTEGER);")
for i,(p,rd,wr,o) in enumerate([(9000,0,0,210),(9400,8960,0,120),(9700,9344,0,90)]): db.execute("INSERT INTO model_usage VALUES (?,?,?,?,?,?,?,?,?,?,?)",(f"u{i}","s1","t1","GLM-5.2",p,o,20,wr,rd,at+i*20000,at+i*20000+5000))
db.commit(); db.close()
# A tree whose pages lead to one another in a circle, and a database with its log in one file: seeds of the fuzzer.
F=D+'../fuzz/recording/'
b=bytearray(pathlib.Path(D+'opencode.db').read_bytes())
page=next(i for i in range(1,len(b)//512) if b[i*512]==5)
b[page*512+8:page*512+12]=(page+1).to_bytes(4,'big')
pathlib.Path(F+'database_circle.db').write_bytes(b)
pathlib.Path(F+'database_with_log.db').write_bytes(copies[""]+copies["-wal"])
# OpenInference names within OTLP (Arize-ai/openinference, spec): lists are spelt out
def flat(prefix,ms):
    o={}
    for i,m in enumerate(ms):
        k=f"{prefix}.{i}.message."
        o[k+"role"]=m["role"]
        if "content" in m: o[k+"content"]=m["content"]
        for j,t in enumerate(m.get("contents",[])): o[k+f"contents.{j}.message_content.type"]="text"; o[k+f"contents.{j}.message_content.text"]=t
        for j,c in enumerate(m.get("calls",[])):
            c0=k+f"tool_calls.{j}.tool_call."; o[c0+"id"]=c; o[c0+"function.name"]="read_file"; o[c0+"function.arguments"]=json.dumps({"path":c+".txt"})
        if "of" in m: o[k+"tool_call_id"]=m["of"]
    return o
def attr(k,v): return {"key":k,"value":{"intValue":str(v)} if isinstance(v,int) else {"stringValue":v}}
def ospan(i,parent,t,name,kind,a): return {"traceId":"0"*30+"e1","spanId":f"{i:016x}","parentSpanId":parent,"name":name,"startTimeUnixNano":str((1791972000+t)*10**9),"endTimeUnixNano":str((1791972000+t+3)*10**9),"attributes":[attr("openinference.span.kind",kind)]+[attr(k,v) for k,v in a.items()]}
m=[{"role":"system","content":words(30)}]+[{"role":"user","contents":[words(20),words(5)]}]
spans=[ospan(1,"",0,"agent","AGENT",{"llm.token_count.prompt":9999}),ospan(2,f"{1:016x}",0,"step","CHAIN",{})]
tool=json.dumps({"type":"function","function":{"name":"read_file","description":words(6)}})
for i,(p,rd,wr,o) in enumerate([(4200,0,4096,70),(4500,4096,256,60),(4900,4352,384,50)]):
    a=[{"role":"assistant","content":words(6),**({"calls":[f"c{i}"]} if i<2 else {})}]
    spans.append(ospan(10+i,f"{2:016x}",10*i+1,"ChatAnthropic","LLM",{"session.id":"se9","llm.model_name":"claude-opus-5","llm.token_count.prompt":p,"llm.token_count.completion":o,"llm.token_count.total":p+o,"llm.token_count.prompt_details.cache_read":rd,"llm.token_count.prompt_details.cache_write":wr,"llm.tools.0.tool.json_schema":tool,**flat("llm.input_messages",m),**flat("llm.output_messages",a)}))
    if i<2:
        r0=words(40); spans.append(ospan(20+i,f"{2:016x}",10*i+5,"read_file","TOOL",{"tool.name":"read_file","input.value":"{}","output.value":r0}))
        m=m+a+[{"role":"tool","content":r0,"of":f"c{i}"}]
out('otel-openinference.jsonl',[{"resourceSpans":[{"resource":{"attributes":[attr("service.name","fixture")]},"scopeSpans":[{"scope":{"name":"openinference.instrumentation.langchain"},"spans":spans}]}]}])
# LangSmith with messages as LangChain serialises them
def lc(cls,**k): return {"lc":1,"type":"constructor","id":["langchain","schema","messages",cls],"kwargs":{**k,"additional_kwargs":{},"response_metadata":{}}}
h=[lc("SystemMessage",content=words(30)),lc("HumanMessage",content=words(20))]
a=lc("AIMessage",content=words(6),tool_calls=[{"name":"read_file","args":{"path":"a.txt"},"id":"c1","type":"tool_call"}])
def lsm(i,t,p,cr,o,messages,answer): return {**ls(i,t,p,cr,0,o,0),"inputs":{"messages":[messages]},"outputs":{"generations":[[{"text":answer["kwargs"]["content"],"type":"ChatGeneration","message":answer}]],"llm_output":None}}
out('langsmith-messages.jsonl',[lsm(1,1,900,0,60,h,a),lsm(2,9,1300,896,40,h+[a,lc("ToolMessage",content=words(40),tool_call_id="c1")],lc("AIMessageChunk",content=words(15)))])
