/**
 * Written by scripts/train-patterns.ts; not edited by hand. A line is an expression's name and pieces of
 * text of which each of its matches has at least one.
 */
export const TRIGGERS = String.raw`
clause:condition| hero|assum|at if|book|chapt|chara|dream|etend|film|game|had |hero|if|imagi|in ca|movie|novel|prota|rst c|say|scene|shoul|story|t tha|unles|uppos|vided|wheth
clause:time-condition|befor|by th|fter |once|s soo|until|when|while
clause:question-opening|am|any |are|ask|can|could|did|do|does|has|have|how|i won|is|may|might|ot kn|shall|shoul|show|t sur|tell|was|were|what|when|where|which|who|whose|why|will|wonde|would|xplai
clause:noun-after-all|backu|build|call|check|clean|close|copy|cut|deplo|desig|downl|draft|email|expor|filte|hange|impor|keep|limit|list|load|lock|log|merge|note|nstal|nvite|omple|open|order|ormat|page|patch|plan|post|print|push|recor|refac|relea|repor|retur|revie|run|searc|separ|set|start|switc|test|track|updat|upgra|uploa|watch|wrap
clause:request| me k|anyon|be su|do no|eel f|ke su|ld li|ne pl|need|never|pleas|pls|plz|someb|someo|want|you
clause:history| ago|19|20|back |boss|child|emplo|job|kid|mpany|o say|ose d|stude|team|times
clause:frame|agend|angel|are a|ase n|ce cr|cons|cribe|draft|ect l|efini|examp|exerc|faq|genre|gloss|headl|heckl|imagi|make |mmari|of do|orten|plot|promp|pros|quote|rephr|rewri|roofr|sampl|say|scena|slate|sloga|steps|surve|synop|templ|title|ubles|uppos|use t|write|xplai
clause:question|doubt|how|if|what|where|wheth|why|wonde
clause:possible|afrai|almos|can|could|fear|glad|half|hear|heory|hopef|i gue|ieved|ike y|likel|may|maybe|might|nearl|osedl|ought|perha|posed|possi|poten|prone|risk|rried|shoul|sworn|t sur|tend|think|u pro|would
clause:planned|ady t|aim|as to|attem|by |due|duled|expec|goal|going|hop|ied t|in or|let m|let u|like|love|must|need|ntend|plan|shall|start|targe|to be|try|tryin|ut to|ve to|want|will|wish|worki
clause:reported|accor|argue|autho|book|claim|e art|e pap|e sto|et al|film|game|hero|menti|movie|my ch|novel|prior|prota|reads|repor|rials|rites|roved|said|say|scene|sked |state|story|study|told|tudie|wrote
clause:past|ack t|ad be|ago|he ti|iousl|last |ore t|used |was|were|yeste
blocker:harming| back|clash|confl|costi|cut|drop|eatin|fall|fell|hoggi|holdi|hrowi|hurti|keepi|killi|loodi|only |preve|reaki|recki|roppe|ruini|slowi|spamm|terfe|toppi|troyi|turni|wampi
blocker:stopped|dark|ghost|gone |ilent|offli|to a |toppe
blocker:fails|angle|anics|ashes|bails|barfs|blows|bombs|conks|craps|dies|eadlo|eezes|error|explo|fails|falls|flatl|flows|fuses|grind|hangs|hokes|ies o|jects|kes f|leaks|loops|mes o|ntrad|oes d|ps wo|rawls|reaks|rupts|segfa|talls|unces|uns o|uts o|ves u
blocker:fail-plain|blow |break|crash|die|explo|fail|freez|hang|ime o|or ou
blocker:throws|eceiv|es ba|exit|get|gets|getti|give|givin|got|hit|hits|hitti|hrowi|oduce|repor|resul|retur|rs wi|see|seein|show|spit|throw|turni
blocker:failing|actin|blowi|choki|dying|ectin|efusi|faili|falli|flapp|hangi|hrowi|leaki|locki|loopi|misbe|of sy|pilin|rashi|reaki|reezi|rrori|talli|timin|uncin|worse
blocker:keeps-on|keep|kept
blocker:failed|ashed|blew |broke|ckfir|colla|died|ell o|faile|faili|fell |froze|got |hoked|hung|iled_|ked o|loded|lost |lures|med o|nt do|ran o|roken|rrore|rrors|talle|unced
blocker:bad-state|a pay|atibl|borke|brick|buste|cessi|corru|crewe|dead|denie|eacha|elaye|flaky|fubar|hosed|imite|inacc|insuf|jamme|kaput|ked o|messe|misco|nreac|offli|on fi|oomki|ot av|pired|roken|rozen|rstaf|suspe|tecte|throt|toast|unava|undoc|unres|unsta|unusa|ut of|verlo|voked
blocker:weak-state|a mes|angle|blank|cated|disab|down|empty|faili|full|garba|gone|inval|issin|jecte|late|lost|nan|nowhe|ocked|off b|out|pendi|red|slow|too |usele|wappe|wrong
blocker:not-working|ld no|no lo|not |ot wo|refus
blocker:does-not|not 
blocker:broke-it|brick|broke|corru|kes d|kille|kills|messe|nuked|ook d|reaks|roken|trash|wiped
blocker:having-trouble|bug|confl|crash|criti|diffi|eadlo|egres|error|excep|failu|glitc|hiccu|issue|leak|outag|probl|roadb|snag|stack|timeo|troub|warni
blocker:the-problem-is|bug|catch|chall|faili|issue|obsta|ocked|ocker|probl|roken|snag|stuck|troub
blocker:harm|angle|anned|arged|ate|cates|celle|clobb|denie|doubl|drops|eats|elete|enies|esets|flagg|forgo|fused|garbl|hijac|jecte|kicke|kicks|letes|logs |losed|loses|lost|ncele|nored|nores|rgets|rippe|rong |roppe|shut|skips|swall|trips|trunc|twice|verwr|voked|wiped|wipes
blocker:wrong-verb|abort|balk|barf|block|bomb|borte|bounc|break|choke|ckfir|clash|clog|colla|confl|corru|crash|crawl|cripp|crumb|degra|deter|die|died|disca|diver|drift|drop|dupl|egres|essed|evict|exite|expir|explo|fail|falte|fell |flake|flap|flick|flood|forbi|freez|garbl|glitc|halt|hang|hinde|jam|lag|laps|lapse|leak|lentl|licte|loop|los|lost|mangl|minat|misbe|misma|miss|nated|nterr|ntrad|obstr|ompla|oscil|overh|panic|paral|peare|pired|preve|puke|quit|refus|rejec|revok|sappe|sconn|scram|segfa|slip|slipp|spam|stall|starv|strug|stutt|suspe|swall|talle|tank|throt|trunc|uietl|vanis|verfl|verru|viola|vomit|wedg|went 
blocker:bad-news| down|a pai|backe|burne|ck sc|e lim|ead l|hande|hit b|hut u|kick|ll il|lock|n sic|neith|o a c|off b|on le|only |orn d|pulle|r bud|r wat|red h|rey s|sed u|shut |slow|slowe|strik|t a s|t sic|te sc|time|ttack|uit o|ver q|walke|wild 
blocker:half-gone| too |en at|fine|get|gets|got|half |itsel|now |off|ok|okay|retur|right|with
blocker:same-again| back| this|same |these|this
blocker:trailing-not| not|ersta|find|gure |know|see|tell
blocker:breakdown| capa|ace c|at |ata l|baffl|blows|ck ov|cluel|crewe|doome|downt|e rep|eadlo|enoug|essin|expec|good|grows|hort |infin|invis|limbs|lue s|movin|need|needs|nel p|nread|ory l|outag|overw|re du|rge c|rge h|s far|seg|st he|stump|take|takin|there|took|uires|ull p|unsta|wampe
blocker:remaining|error|faili|failu|probl
blocker:not-in-place|avail|eacha|fined|given|gured|igned|lishe|need |plied|prese|rante|roved|rovis|set|talle|unted|vided
blocker:lacks| mism|dency|do no|lacki|lacks|need|no lo|oes n
blocker:nothing-does|neith|no on|nobod|none |nothi
blocker:cannot|can|could
blocker:unable|a los|ble t|canno|faili|g see|gardl|giv|ied e|ils t|impos|incap|led t|luck|my wi|no av|no lu|no ma|no wa|nothi|o dic|of id|strug|ucces|unabl|ve up
blocker:stuck| impa| limb|andst|ead i|eadlo|eld u|gridl|hamst|ocked|on ho|on ic|paral|rozen|stran|stuck|talle|ung u
blocker:blocked-by|ead e|hit |holdi|imped|locki|locks|ocked|ocker|olds |opper|preve|reake|roadb|stops|way o
blocker:waiting|await|held |hinge|pendi|pends|wait|waiti
blocker:need-first|an do|befor|movem|need|o wai|rogre|unles|until|witho
blocker:lack|acces|answe|bandw|budge|capac|clue|crede|entat|envir|ermis|feedb|fundi|idea|idea |ights|ignal|ime l|licen|necti|netwo|no on|nobod|of us|outpu|ponse|power|prova|quota|reply|ricit|runs|staff|terne|types|way|word
blocker:not-yet|has|have|still
blocker:resource| erro|% ful|at 9|backo|cal v|exit|ked o|limit|ly ac|n den|nly h|ock h|oom|oomki|per j|quota|rbidd|rge c|ss de|thori|ut of
blocker:sigh|annoy|arg|bad n|crap|dammi|damn|drivi|frust|help!|ightm|iled_|nope|rgent|sadly|sos|ug|unfor|wtf
blocker:persists| back| time|again|days|hours|ince |ourth|secon|still|third|weeks
blocker:has-none| no 
blocker:no-outcome| noth|ceivi|comin|doing|eachi|getti|going|h no |issin|letti|movin|nothi|picki|s mis|showi|so |synci
blocker:delay|behin|d cou|days|hours|idle|late|lying|n rev|onths|overd|parke|pendi|sitti|stuck|th no|till|unans|until|weeks
blocker:idiom| dept| frit| sigh| tied|actin|ad ag|argoe|be fo|burne|clogg|come|cut o|e dar|endle|fall |falli|forev|goe|hair |he ai|he wr|hosed|ighti|leedi|lost|nfuse|nobod|o joy|ometh|pilin|r age|rcles|rippi|rstaf|spin|spinn|t cau|uare |ut of|verlo|won't|y off
blocker:lost-hours|an ho|days|entir|hours|ke no|kes n|l day|l mor|whole
blocker:no-output|no 
blocker:standing-still| idle| ques|conti|deact|ff th|g to |go |happe|in sm|kills|lacem|leave|leavi|lie|losed|lying|make|nly o|no en|nobod|off|on le|ot mu|ounde|parke|rocee|rypte|shelf|shut|sit|sits|sitti|sold |stand|strik|tandi|tands|tarte|tined|ueued|y boo
blocker:goes-bad|accum|black|blank|blow|boots|bounc|crazy|cut|dark|ee by|haywi|hes w|hrows|ilent|in ci|lains|lost |ls wi|mes u|offli|only |opens|ors w|ot wa|pty p|rints|rmitt|s abs|show|tarts|turns|uck t|until|white|works
accomplishment:then-fixed|D
accomplishment:got-from| live|eceiv|ecure|got|mergi|obtai|roppe
accomplishment:i-did|D
accomplishment:did|D
accomplishment:and-did|D
accomplishment:open-past|ed
accomplishment:is-done|althy|assin|back |backe|bmitt|booke|clean|d mer|dated|done|ducti|duled|e doo|e lin|eased|enabl|enewe|erged|erifi|esolv|filed|fixed|gone|grate|green|gured|hippe|histo|igned|in pl|ivere|ked i|l set|lishe|live|losed|main|maste|mmitt|mplem|nd ru|ne ag|nishe|oaded|od to|off m|olved|omple|on ma|orted|overe|paid|ploye|prod|pushe|ready|reshi|runni|sent|set u|sorte|stabl|talle|teste|to da|tored|unblo|unloc|up |worki|wrapp|writt
accomplishment:noun-done|D|althy|assin|back |backe|clean|d mer|done|ducti|e doo|e lin|gone|green|histo|in pl|l set|live|main|maste|nd ru|ne ag|od to|off m|omple|on ma|overe|prod|ready|reshi|runni|set u|stabl|to da|up |went |worki
accomplishment:label-done|: 
accomplishment:open-passive|ed
accomplishment:it-did|ame t|cured|eplie|erged|esolv|fixed|greed|heale|hippe|igned|irmed|ivere|ks ou|lande|leare|leted|nishe|olved|ome t|overe|paid|rived|roved|tored|uccee
accomplishment:fine-now|erved|fine|flawl|good:|happy|hout |irmed|itche|leanl|now|oothl|satis
accomplishment:i-past|ed
accomplishment:good-event| left|: che|a sig|ame t|cepte|ecked|edule|go-ah|got |humbs|icked|in pl|inall|knock|lande|look|n lig|nder |ne pi|od no|over|rante|rosse|roved|stabl|there|unted
accomplishment:good-news|ade i|ady t|all |are t|as ex|asses|beat |bmits|ck ab|cut |der c|e can|e met|eat n|ent u|g lef|gh to|h sai|ike n|it sh|k bel|le ag|n bus|ne de|ne le|nt do|ntend|o say|od sh|ome n|on tr|oud t|ow ta|ped o|ppy t|rosse|rst u|ry on|s met|s thr|to go|up to|wn to
accomplishment:able| able| agai|asses|boots|calli|fits|flies|loads|n top|nects|piles|plugg|ran |runs|uilds|unplu|works
accomplishment:did-weak|began|broug|cut|drove|gave|held|hit|kept|led|let|made|met|put|ran|took
accomplishment:done-alone|bmitt|done|done_|eased|erged|esolv|fixed|got i|hippe|lande|leted|lishe|live|mmitt|naile|nishe|olved|ploye|pushe|sent|sorte|ucces|works|x_
accomplishment:works-now|again|at la|inall|just|now|orks |tuall|worki|works
accomplishment:succeeded| tric|a hit|ade i|an of|box z|e bag|em so|esolv|fixed|good|ken c|mer c|mplis|naile|od ne|olved|ook c|orked|pulle|rmed |se cl|sed w|set|sfull|uccee|went |yes a
accomplishment:got-it|got|gotte|have |inall|naged|ot ri
accomplishment:commit-line| #|: 
accomplishment:milestone|a wra|ached|assed|box z|d dus|hit|hoora|hurra|inall|last|phew|rosse|wooho|woot|yay|🎉
decision:decided|ade t|ade u|adopt|chose|cided|concl|crapp|dardi|gone |greed|he id|hosen|jecte|lande|lecte|lved |mmitt|off o|opted|picke|reen-|reenl|roved|ruled|selec|tled |vetoe|voted|went 
decision:decided-bare|ade u|chose|cided|ectin|greed|hosen|jecte|ned o|nt wi|off o|opted|picke|poll|roved|ruled|said |selec|tled |ttled|vetoe|vote|voted|wins
decision:decision-label|call|cided|decis|esolu|greed|l ans|lan c|nclus|nsens|of pl|olicy|outco|rule|rulin|verdi
decision:let-us|let u
decision:let-us-choice|let u
decision:going-with|addin|adopt|ancel|aulti|buyin|calli|crapp|cutti|dardi|ditch|doing|ecati|ectin|elayi|emovi|enami|etiri|ettli|g wit|going|hangi|helvi|hippi|hirin|holdi|hoosi|ignin|imiti|itchi|keepi|killi|kippi|leavi|makin|mergi|mitti|movin|ng fo|no |optin|ouchi|parki|pausi|picki|placi|plitt|porti|ratin|reezi|rolli|roppi|rulin|stayi|takin|tarti|ticki|tponi|uildi|unchi|using
decision:will-choose|am go|e goi|shall|will
decision:will-not|not 
decision:we-rule|we 
decision:it-is| it i| ston|a go|a no-|at is|cappe|cided|discu|e pla|e rul|end o|et at|ff th|final|greed|imite|inced|is se|l sto|ll it|negot|o dis|o exc|of sc|ot ne|perio|pproa|roved|se cl|ttled|ttles|way|winne|xed a
decision:from-now-on| forw|as of|encef|fecti|monda|next |om he|rom n|tarti|til f|today
decision:go-with-plan|first|latte|n fav|optio|ormer|other|per |picke|plan |rathe|s wha|secon|tead |third
decision:contrast|, not|he mv|his r|ime b|move|moved|now|pushe|remai|shift|slip|stay|v1
decision:scratch|ancel|ditch|drop|er mi|forge|go wi|keep|kill|ld of|leave|nah|nix|park|scrap|scrat|skip|take|tick |tpone|use
decision:approve| let |+1 |air e|ced m|deal|ead w|ersto|fine|greed|irmed|nds g|noted|ok|roved|sold|sure|yes
decision:assistant-choice|answe|aulte|choic|chose|cided|cusse|decis|efere|eferr|feedb|gone|greed|hosen|imite|kept|kippe|laced|left|named|omitt|opted|picke|prefe|roppe|ruled|rulin|said |stuck|tled |treat|ttled|voide|went
decision:will-only|fine|he ri|hifts|is se|ll be|ll ri|moves|nah|no|ok|remai|right|s now|shall|slips|so|stay|stays|will|yes p
decision:we-present|we 
decision:we-doing|i am|we ar
decision:will-open| goin|en we|we wi
decision:answered-choice|accep|ake i|ancel|book|buy|close|cut|decli|ditch|do |drop|elete|ename|er mi|evert|forge|give|go |hold|just|keep|kill|leave|let|limit|ll it|merge|move|only|order|park|pick|prove|put|refun|rejec|relea|remov|roll|scrap|send|ship|skip|split|squas|start|stay|stick|stop|switc|take|tpone|ublis|use|wait
decision:answered-name| it i|bigge|blue|fine|first|gesti|heape|idea|inced|last|latte|ll ri|malle|nah|nope|ok|okay|oposa|optio|ormer|other|right|secon|so|sold|third|u win|well|yes|yes t
decision:no-thing|no 
decision:no-rule|no 
decision:body-settled|chose|gned |ided |ok'd|okaye|opted|picke|prefe|reed |ruled|tled |turne|vetoe|voted|went 
decision:after-talk|call|chat|cided|cusse|ecked|greed|leare|leepi|long |meeti|nt ov|per |revie|rksho|sessi|spoke|sync|talk|talke|tandu|ttled|ussio|vote
decision:becomes| agre| only| own|becom|cappe|come|crapp|cut|debat|defer|ecate|elaye|elved|etire|from |goe|imite|laced|matte|moved|named|poned|remai|remov|resch|roppe|stay|sunse|tende|topic|uncha|ussio|ved t|vetoe|xed a
decision:that-is-how| wort|at is|ff th|hereb|i tak|is a |it li|n liv|plent|shall|so |t wil|to me|we ac|will|wontf
decision:settled-talk|aband|ce yo|debat|decli|do th|ept o|for v|forth|he mv|her n|n boa|no ma|no mo|on se|oss t|ought|re ri|ruled|screw|spoke|stay|talke|ussio|veryo|veryw
decision:will-be|as is|delib|first|i acc|i say|is to|lan i|ll be|lock|locki|ocked|on pu|re to|wns t|y are
decision:then| then|dead|en it|fine|i wil|ll ri|nah|no|ok|out|right|yes
decision:must-be|all|any|each|every|i wan|l be |l tak|rce o|s goi
accomplishment:now-does|now|now 
accomplishment:as-it-should| own| shou| try|acros|aints|downt|egres|error|expec|findi|g to |h sid|itsel|lanne|ll ho|mised|nings|ntend|one g|operl|or ev|repor|st ti|thems|to en|ueste
accomplishment:ticked-off|S
accomplishment:step-list|S
accomplishment:is-through|are|ast o|is|left |off |we ar
accomplishment:got-done|S|going|i hav|ligne|n syn|o tal|talki|up ag
accomplishment:came-through|ade i|again|ame b|eld u|found|go th|in un|inall|irst |now|oes t|ok me|onfir|ped u|rosse|ruck |sed w|t thr|ve us|vived
accomplishment:stays-away| seen| sinc|ashed|faile|had |laked|no mo|ome b|own u|ppene|reapp|roppe|turne|urred
accomplishment:is-gone| once|gone|has n|leare|no lo|no mo|nt aw|peare|quit|toppe|vanis
accomplishment:tests-pass|clean|compi|faile|faili|green|ll gr|lures|pass|rrors|uccee|veryt
accomplishment:pr-up|branc|build|doc|draft|ersio|erver|fix|lides|link|mocku|mr|page|patch|pr|prod|relea|servi|site
insight:realised| see,|arned|dea t|ealiz|earnt|ersta|ersto|get |gured|iced |iscov|known|learn|lised|orked|ot kn|r kne|reali|s i n|see |see n|spott|t i m|tells|ticed|und o|w why
insight:turns-out|aha|catch|culpr|eurek|findi|insig|it ap|key|lesso|o kne|ppens|prisi|rns o|ry so|secre|takea|teres|trick|turne|und i|was i
insight:cause| fact| wher|ame f|as wh|boils|cause|come|culpr|d bec|domin|ied b|inned|lains|ns is|ppeni|reaso|rrowe|s cau|s why|t cau|trace|xplan
insight:because|becau
insight:is-so-because|becau|since
insight:all-along|end i|entir|er al|he wh|it |l alo|l thi|to bl
insight:only-when|only 
insight:not-the-suspect|about|at al|becau|do wi|due t|er al|nd no|not t
insight:share|accou|aused|domin|drive|due|etain|from|held|into|lost|spent|used|xplai
insight:looked-into|atchi|bisec|buggi|diggi|dug|ecked|going|looke|looki|lotti|ofili|otted|pared|parin|profi|rchin|readi|stari|watch|went
insight:fix-explained|crack|fixed|found|naile|olved
insight:not-but|are j|depen|is ju|n fac|never|not |sappe|tuall
scope_creep:while-at-it|also |anoth|hile |ht as|ince |lso c|ne mo|oh an|ow in|u als
scope_creep:outgrown| cree|ballo|beyon|blow|blows|ch bi|cope |e_ ad|ell b|excee|expan|ger t|meant|nly w|on cr|ope f|origi|outsi|platf|posed|r pap|serie|snowb
scope_creep:never-asked| neve| not|asked|brief|budge|card|deal|did|does|eques|erent|greed|icket|issue|job|ked f|lanne|never|ntrac|of wo|offer|ole n|oposa|order|overs|plan|quote|rdere|scope|separ|sow|spec|story|task|tione|ueste
scope_creep:grew| into|add|addin|arted|asked|askin|becom|began|begun|ded u|grown|lanne|lippi|mised|morph|neake|now |ong t|origi|pilin|rdere|reed |sks f|slipp|smugg|sneak|snuck|uoted|want|wante|xtras
task_created:todo|ber t|forge|ind m|minde|n ite|note |to-do|todo|up wi|w tas
task_created:ticket|aised|bug|card|creat|cut|eated|ere i|file|filed|filin|follo|icket|issue|isted|lecte|log|logge|made|make|n ite|nge r|noted|open|opene|openi|ote d|raise|reati|story|t fil|task
task_created:noted-down|acker|agend|backl|board|calen|do|down |e nex|e wee|evisi|heckl|jira|kanba|later|left|list|next |noted|parke|put o|r lat|roadm|saved|se tw|shopp|somed|ter t|xt ti
task_created:due|atest|due |someb|somed
task_created:need|eds t|eed t|have|ne pl|need
`;
