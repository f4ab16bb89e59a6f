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
# generateContent
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
out('gemini-api.jsonl',rows)
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
# Amp
def am(i,role,content,u=None):
    return {"role":role,"messageId":i,"content":content,**({"usage":u} if u else {"meta":{"sentAt":1791799200000+i*4000}})}
def au(i,inp,wr,rd,o): return {"model":"claude-opus-5","inputTokens":inp,"outputTokens":o,"cacheCreationInputTokens":wr,"cacheReadInputTokens":rd,"totalInputTokens":inp+wr+rd,"timestamp":f"2026-10-12T10:00:{i*4:02}.000Z"}
t={"v":3,"id":"T-00000000-0000-4000-8000-0000000000a1","created":1791799200000,"messages":[
 am(0,"user",[{"type":"text","text":words(25)}]),
 am(1,"assistant",[{"type":"thinking","thinking":words(12),"signature":"x"},{"type":"text","text":words(6)},{"type":"tool_use","id":"toolu_1","name":"Read","input":{"path":"/a.txt"}}],au(1,10,9860,0,178)),
 am(2,"user",[{"type":"tool_result","toolUseID":"toolu_1","run":{"status":"done","result":{"content":words(60)}}}]),
 am(3,"assistant",[{"type":"text","text":words(15)}],au(3,5,420,9860,42))],
 "title":words(3)}
open(D+'amp-thread.json','w').write(json.dumps(t,indent=1)+'\n')
