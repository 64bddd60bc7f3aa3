/**
 * Written by scripts/train-patterns.ts; not edited by hand. A line is an expression's name and pieces of
 * text of which each of its matches has at least one.
 */
export const TRIGGERS = String.raw`
clause:condition| hero|assum|at if|book|chapt|chara|dream|etend|film|game|had |hero|if|imagi|movie|n cas|novel|prota|say|scene|shoul|story|t tha|unles|uppos|vided|wheth|worst
clause:time-condition|befor|by th|fter |once|s soo|until|when|while
clause:question-opening|am|any |are|ask|can|could|did|do|does|has|have|how|i won|is|may|might|ot kn|shall|shoul|show|t sur|tell|was|were|what|when|where|which|who|whose|why|will|wonde|would|xplai
clause:noun-after-all|backu|build|call|check|clean|close|copy|cut|deplo|desig|downl|draft|email|expor|filte|hange|impor|keep|limit|list|load|lock|log|merge|mplet|note|nstal|nvite|open|order|ormat|page|patch|pdate|plan|post|print|push|recor|refac|relea|repor|retur|revie|run|searc|separ|set|start|switc|test|track|upgra|uploa|watch|wrap
clause:request| me k|anyon|be su|do no|el fr|ke su|ld li|ne pl|need|never|pleas|pls|plz|someb|someo|want|you
clause:history| ago|19|20|back |boss|child|emplo|job|kid|mpany|o say|se da|stude|team|times
clause:frame|agend|angel|are a|ase n|ce cr|cons|cribe|draft|ect l|efini|examp|exerc|faq|genre|headl|heckl|imagi|lossa|make |mmari|of do|orten|plot|promp|pros|quote|rephr|rewri|roofr|sampl|say|scena|slate|sloga|steps|surve|synop|templ|title|ubles|uppos|use t|write|xplai
clause:question|doubt|how|if|what|where|wheth|why|wonde
clause:possible|afrai|almos|can|could|fear|glad|half|hear|heory|hopef|i gue|ieved|ike y|likel|may|maybe|might|nearl|osedl|otent|ought|perha|posed|prone|risk|rried|shoul|ssibl|sworn|t sur|tend|think|u pro|would
clause:planned|ady t|aim|as to|attem|by |due|duled|expec|goal|going|hop|ied t|in or|let m|let u|like|love|must|need|ntend|plan|shall|start|targe|to be|try|tryin|ut to|ve to|want|will|wish|worki
clause:reported|accor|argue|autho|book|claim|e art|e pap|e sto|et al|film|game|hero|ior w|menti|movie|my ch|novel|prota|reads|repor|rials|rites|roved|said|say|scene|sked |state|story|study|told|tudie|wrote
clause:past|ack t|ad be|ago|he ti|iousl|last |ore t|used |was|were|yeste
blocker:harming| back| off|clash|costi|eatin|entin|hoggi|holdi|hrowi|hurti|keepi|killi|loodi|onfli|only |reaki|recki|ruini|slowi|spamm|terfe|toppi|troyi|turni|wampi
blocker:stopped|dark|ghost|gone |ilent|offli|to a |toppe
blocker:fails|anics|ashes|bails|barfs|blows|bombs|conks|craps|cuts |dicts|dies|eadlo|eezes|error|explo|fails|flatl|flows|fuses|grind|hangs|hokes|ies o|jects|kes f|leaks|lls o|loops|mangl|mes o|oes d|ps wo|rawls|reaks|rupts|segfa|talls|unces|uns o|ves u
blocker:fail-plain|break|crash|die|explo|fail|hang|ime o|low u|or ou|reeze
blocker:throws|ack w|eceiv|exit|get|gets|getti|give|givin|got|hit|hits|hitti|hrowi|oduce|repor|resul|retur|rs wi|see|seein|show|spit|throw|turni
blocker:failing|actin|blowi|choki|dying|ectin|efusi|faili|falli|flapp|hangi|hrowi|leaki|locki|loopi|misbe|of sy|pilin|rashi|reaki|reezi|rrori|talli|timin|uncin|worse
blocker:keeps-on|keep|kept
blocker:failed|ashed|blew |broke|ckfir|colla|died|ell o|faile|faili|fell |froze|got |hoked|hung|iled_|ked o|loded|lost |lures|med o|nt do|ran o|roken|rrore|rrors|talle|unced
blocker:bad-state|a pay|atibl|borke|buste|corru|crewe|dead|denie|eacha|elaye|essib|flaky|fubar|hosed|imite|inacc|insuf|jamme|kaput|ked o|messe|misco|n fir|nreac|offli|oomki|ot av|pired|ricke|roken|rozen|rstaf|tecte|throt|toast|unava|undoc|unres|unsta|unusa|uspen|ut of|verlo|voked
blocker:weak-state|a mes|blank|cated|disab|down|empty|faili|ff by|full|garba|gone|inval|issin|jecte|late|lost|nan|ngled|nowhe|ocked|out|pendi|red|slow|too |usele|wappe|wrong
blocker:not-working|ld no|not |o lon|ot wo|refus
blocker:does-not|not 
blocker:broke-it|broke|kes d|kille|kills|messe|nuked|ook d|reaks|ricke|roken|rupte|trash|wiped
blocker:having-trouble|bug|ck tr|crash|criti|diffi|eadlo|egres|eptio|error|failu|glitc|hiccu|issue|leak|onfli|outag|probl|roadb|snag|timeo|troub|warni
blocker:the-problem-is|bug|catch|chall|faili|issue|obsta|ocked|ocker|probl|roken|snag|stuck|troub
blocker:harm|anned|arged|ate|cates|celle|clobb|denie|doubl|drops|eats|enies|erwro|esets|flagg|forgo|fused|garbl|hijac|jecte|kicke|kicks|leted|letes|logs |losed|loses|lost|ncele|ngled|nored|nores|rgets|rippe|rong |roppe|shut|skips|swall|trips|trunc|twice|verwr|voked|wiped|wipes
blocker:wrong-verb|abort|araly|balk|barf|block|bomb|borte|bounc|break|choke|ckfir|clash|clog|colla|corru|crash|crawl|cripp|crumb|degra|die|died|disca|diver|drift|drop|dupl|egres|eteri|evict|exite|expir|explo|fail|falte|fell |flake|flap|flick|flood|forbi|freez|garbl|glitc|halt|hang|hinde|jam|lag|laps|lapse|leak|lentl|licte|loop|los|lost|mangl|minat|misbe|misma|miss|nated|nterr|ntrad|obstr|ompla|onfli|oscil|panic|peare|pired|preve|puke|quit|refus|rejec|revok|sappe|sconn|scram|segfa|slip|slipp|spam|stall|starv|strug|stutt|swall|talle|tank|throt|trunc|uietl|uspen|vanis|verfl|verhe|verru|viola|vomit|wedg|went 
blocker:bad-news| down|a cor|a pai|backe|burne|e lim|ead l|ey sc|ff by|hande|hit b|hut u|k scr|kick|ll il|lock|n lea|n sic|n str|neith|only |orn d|ot a |pulle|r att|r bud|r wat|red h|sed u|shut |slow|slowe|t sic|te sc|time|uit o|ver q|walke|wild 
blocker:half-gone| too |en at|fine|get|gets|got|half |itsel|now |off|ok|okay|retur|right|with
blocker:same-again| back| this|same |these|this
blocker:trailing-not| not|ersta|find|know|see|tell|ure o
blocker:breakdown|ace c|at |baffl|blows|ck ov|cluel|crewe|doome|downt|e rep|eadlo|el pa|enoug|good|grows|hort |infin|invis|limbs|lue s|movin|need|needs|nread|ost h|outag|pecte|re du|rge c|rge h|rogre|ry le|s far|seg|stump|t cap|ta lo|take|takin|there|took|uires|ull p|unsta|verwh|wampe
blocker:remaining|error|faili|failu|probl
blocker:not-in-place|eacha|fined|given|gured|igned|ilabl|lishe|need |ovisi|plied|prese|rante|roved|set|talle|unted|vided
blocker:lacks| mism|dency|do no|lacki|lacks|need|o lon|oes n
blocker:nothing-does|neith|no on|nobod|none |nothi
blocker:cannot|can|could
blocker:unable|a los|ble t|canno|faili|g see|gardl|giv|ied e|ils t|impos|incap|led t|luck|my wi|no av|no lu|no ma|no wa|nothi|o dic|of id|strug|ucces|unabl|ve up
blocker:stuck| limb|an im|andst|araly|ead i|eadlo|eld u|gridl|hamst|n hol|ocked|on ic|rozen|stran|stuck|talle|ung u
blocker:blocked-by|ay of|ead e|hit |holdi|imped|locki|locks|ocked|ocker|olds |opper|preve|reake|roadb|stops
blocker:waiting|await|held |hinge|pendi|pends|wait|waiti
blocker:need-first|an do|befor|movem|need|o wai|rogre|unles|until|witho
blocker:lack|acces|acity|answe|bandw|budge|clue|crede|entat|envir|ermis|feedb|fundi|idea|idea |ights|ignal|ime l|licen|necti|netwo|no on|nobod|of us|outpu|ponse|power|prova|quota|reply|ricit|runs|staff|terne|types|way|word
blocker:not-yet|has|have|still
blocker:resource| erro|% ful|ackof|at 9|cal v|exit|has r|ked o|limit|ly ac|n den|ock h|oom|oomki|orize|per j|quota|rbidd|rge c|ss de|ut of
blocker:sigh|ad ne|arg|crap|dammi|damn|drivi|frust|help!|ightm|iled_|nnoyi|nope|rgent|sadly|sos|ug|unfor|wtf
blocker:persists| back| time|again|days|hours|ince |ourth|secon|still|third|weeks
blocker:has-none| no 
blocker:no-outcome| noth|ceivi|comin|doing|eachi|getti|going|h no |issin|letti|movin|nothi|picki|s mis|showi|so |synci
blocker:delay|behin|d cou|days|hours|idle|late|lying|n rev|onths|overd|parke|pendi|sitti|stuck|th no|till|unans|until|weeks
blocker:idiom| dept| frit| sigh| tied|actin|ad ag|argoe|be fo|burne|clogg|come|cut o|e air|e dar|endle|fall |falli|forev|goe|he wr|hosed|ighti|ir ou|leedi|lost|methi|nfuse|nobod|o joy|pilin|r age|rcles|rippi|rstaf|spin|spinn|t cau|uare |ut of|verlo|won't|y off
blocker:lost-hours|an ho|days|entir|hours|ke no|kes n|l day|l mor|whole
blocker:no-output|no 
blocker:standing-still| idle|arter|deact|e que|ff th|g to |go |happe|in sm|kills|lacem|leave|leavi|lie|losed|lying|make|n lea|n str|nly o|no en|nobod|off|ot mu|parke|rocee|rypte|shelf|shut|sit|sits|sitti|sold |stand|tandi|tands|tined|tinue|ueued|ully |unded
blocker:goes-bad| abse|accum|black|blank|blow|boots|bounc|crazy|cut|dark|ee by|haywi|hes w|hrows|ilent|lains|lost |ls wi|mes u|n cir|offli|only |opens|ors w|ot wa|pty p|rints|rmitt|show|tarts|turns|uck t|until|white|works
decision:decided|ade t|ade u|adopt|chose|cided|concl|crapp|dardi|ff on|gone |greed|he id|hosen|jecte|lande|lecte|lved |mmitt|opted|picke|reen-|reenl|roved|ruled|selec|tled |uded |vetoe|voted|went 
decision:decided-bare|ade u|chose|cided|ectin|ff on|greed|hosen|jecte|ned o|nt wi|opted|picke|poll|roved|ruled|said |selec|tled |ttled|vetoe|vote|voted|wins
decision:decision-label|call|cided|decis|esolu|greed|l ans|lan c|lusio|nge o|nsens|olicy|outco|rule|rulin|verdi
decision:let-us|let u
decision:let-us-choice|let u
decision:going-with|addin|adopt|ancel|aulti|buyin|calli|catin|crapp|cutti|dardi|ditch|doing|ectin|elayi|emovi|enami|etiri|ettli|g wit|going|hangi|helvi|hippi|hirin|holdi|hoosi|ignin|imiti|itchi|keepi|killi|kippi|leavi|litti|makin|mergi|mitti|movin|ng fo|no |optin|ouchi|parki|pausi|picki|placi|porti|ratin|reezi|rolli|roppi|rulin|stayi|takin|tarti|ticki|tponi|uildi|unchi|using
decision:will-choose|e goi|m goi|shall|will
decision:will-not|not 
decision:we-rule|we 
decision:it-is| it i| ston|a go|a no-|at is|cappe|cided|discu|e rul|end o|et at|f sco|ff th|final|greed|he pl|imite|inced|it a |l sto|o dis|o exc|otiab|perio|pproa|roved|s set|se cl|ttled|ttles|way|winne|xed a
decision:from-now-on| forw|as of|encef|fecti|m her|monda|next |rom n|tarti|til f|today
decision:go-with-plan|ad of|at we|first|latte|n fav|optio|ormer|other|per |picke|plan |rathe|secon|third
decision:contrast|, not|he mv|ime b|move|moved|now|pushe|remai|s rel|shift|slip|stay|v1
decision:scratch|ancel|ditch|drop|er mi|forge|go wi|ick w|keep|kill|ld of|leave|nah|nix|park|scrap|scrat|skip|take|tpone|use
decision:approve|+1 |air e|ced m|deal|ersto|fine|go ah|greed|irmed|nds g|noted|ok|roved|sold|sure|works|yes
decision:assistant-choice|answe|aulte|choic|chose|cided|cusse|decis|eated|efere|feedb|ferre|gone|greed|hosen|imite|kept|kippe|laced|left|named|omitt|opted|picke|prefe|roppe|ruled|rulin|said |stuck|tled |ttled|voide|went
decision:will-only|fine|he ri|hifts|l rig|ll be|moves|nah|no|ok|remai|right|s now|s set|shall|slips|so|stay|stays|will|yes p
decision:we-present|we 
decision:we-doing|i am|we ar
decision:will-open| goin|en we|we wi
decision:answered-choice|accep|ake i|ancel|book|buy|close|cut|ditch|do |drop|eclin|elete|emove|ename|er mi|evert|forge|give|go |hold|just|keep|kill|leave|let|limit|ll it|merge|move|only|order|park|pick|prove|put|refun|rejec|relea|roll|scrap|send|ship|skip|split|squas|start|stay|stick|stop|switc|take|tpone|ublis|use|wait
decision:answered-name| it i|bigge|blue|eaper|fine|first|gesti|idea|inced|l rig|last|latte|malle|nah|nope|ok|okay|oposa|optio|ormer|other|right|secon|so|sold|third|u win|well|yes|yes t
decision:no-thing|no 
decision:no-rule|no 
decision:body-settled|chose|gned |ided |ok'd|okaye|opted|picke|prefe|reed |ruled|tled |turne|vetoe|voted|went 
decision:after-talk|call|chat|cided|cusse|ecked|greed|leare|leepi|long |meeti|nt ov|per |revie|rksho|sessi|spoke|sync|talk|talke|tandu|ttled|ussio|vote
decision:becomes| agre| only| own|becom|cappe|come|crapp|cut|debat|defer|ecate|elaye|elved|emove|etire|from |goe|imite|laced|matte|moved|named|poned|remai|resch|roppe|stay|sunse|tende|topic|uncha|ussio|ved t|vetoe|xed a
decision:that-is-how| wort|at is|ff th|hereb|i tak|is a |it li|n liv|plent|shall|so |t wil|to me|we ac|will|wontf
decision:settled-talk|aband|ce yo|debat|do th|eclin|ept o|for v|forth|he mv|her n|n boa|no ma|no mo|on se|oss t|ought|poken|re ri|ruled|screw|spoke|stay|talke|ussio|veryo|veryw
decision:will-be|as is|delib|ey ar|first|i acc|i say|is to|lan i|ll be|lock|locki|ocked|on pu|re to|wns t
decision:then| then|dead|en it|fine|i wil|l rig|nah|no|ok|out|right|yes
decision:must-be|all|any|each|every|i wan|l be |l tak|rce o|s goi
insight:realised| see,|arned|dea t|ealiz|earnt|ersta|ersto|get |gured|iced |iscov|known|learn|lised|orked|reali|s i n|see n|spott|t i m|tells|ticed|und o|ver k|w tha|w why|why
insight:turns-out|aha|catch|culpr|eurek|findi|insig|it ap|key|lesso|o kne|ppens|prisi|resti|rns o|ry so|secre|takea|trick|turne|und i|was i
insight:cause|ame f|as wh|boils|cause|come|culpr|d bec|domin|due t|ied b|inned|lains|ns is|ppeni|reaso|rowed|s cau|s whe|s why|t cau|trace|xplan
insight:because|becau
insight:is-so-because|becau|since
insight:all-along|end i|entir|er al|he wh|it |l alo|l thi|to bl
insight:only-when|only 
insight:not-the-suspect|about|at al|becau|do wi|due t|er al|nd no|ot th
insight:share|accou|aused|domin|drive|due|etain|from|held|into|lost|spent|used|xplai
insight:looked-into|atchi|bisec|buggi|diggi|dug|ecked|going|looke|looki|lotti|ofili|otted|pared|parin|profi|rchin|readi|secte|stari|watch|went
insight:fix-explained|crack|fixed|found|naile|olved
insight:not-but|are j|depen|is ju|n fac|never|not |sappe|tuall
scope_creep:while-at-it|also |anoth|hile |ht as|ince |lso c|ne mo|oh an|row i|u als
scope_creep:outgrown| cree|alloo|beyon|bigge|blow|blows|ch bi|cope |e_ ad|excee|expan|igina|l bey|meant|n cre|nly w|ope f|outsi|platf|posed|r pap|serie|snowb
scope_creep:never-asked| neve| not|ask f|ask y|asked|brief|budge|card|clude|cover|deal|eques|erent|greed|icket|issue|job|ked f|lanne|menti|never|ntrac|of wo|offer|ole n|oposa|order|plan|quote|rdere|scope|separ|sow|spec|story|task|tione|ueste|vers 
scope_creep:grew| into|add|addin|arted|asked|askin|becom|began|begun|ded u|grown|igina|lanne|lippi|mised|morph|neake|neaki|now |ong t|pilin|rdere|reed |sks f|slipp|smugg|snuck|uoted|want|wante|xtras
task_created:todo|ber t|forge|ind m|minde|n ite|note |to-do|todo|up wi|w tas
task_created:ticket|aised|bug|card|creat|cut|eated|file|filed|filin|follo|icket|issue|isted|lecte|log|made|make|n ite|nge r|noted|ogged|open|opene|openi|ote d|raise|re is|reati|story|task|ust f
task_created:noted-down|acker|agend|backl|board|calen|do|down |e nex|evisi|heckl|jira|kanba|later|left|list|next |noted|parke|put o|r lat|roadm|saved|se tw|shopp|somed|ter t|weeke|xt ti
task_created:due|atest|due |someb|somed
task_created:need|eds t|eed t|have|ne pl|need
`;
