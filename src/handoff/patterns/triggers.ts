/**
 * Written by scripts/train-patterns.ts; not edited by hand. A line is an expression's name and pieces of
 * text of which each of its matches has at least one; "~" is where a word begins or ends,
 * "^" where the sentence begins.
 */
export const TRIGGERS = String.raw`
clause:condition|~assum|~book~|~chapter~|~characte|~dream~|~film~|~game~|~had |~hero~|~if~|~imagine~|~in case~|~movie~|~not that~|~novel~|~pretend~|~protagon|~provided~|~say~|~scene~|~should |~story~|~suppos|~the hero~|~unless~|~what if~|~whether~|~worst ca
clause:time-condition|~after |~as soon |~before~|~by the t|~once|~until|~when~|~while~
clause:question-opening|~am~|~any |~are~|~ask~|~can~|~could~|~did~|~do not k|~does~|~do~|~explain~|~has~|~have~|~how~|~i wonder~|~is~|~may~|~might~|~not sure~|~shall~|~should~|~show~|~tell~|~was~|~were~|~what~|~when~|~where~|~which~|~whose~|~who~|~why~|~will~|~wonder|~would~
clause:noun-after-all|~backup|~build|~call|~change|~check|~clean|~close|~complete|~copy|~cut|~deploy|~design|~download|~draft|~email|~export|~filter|~format|~import|~install|~invite|~keep|~limit|~list|~load|~lock|~log|~merge|~note|~open|~order|~page|~patch|~plan|~post|~print|~push|~record|~refactor|~release|~report|~return|~review|~run|~search|~separate|~set|~start|~switch|~test|~track|~update|~upgrade|~upload|~watch|~wrap
clause:request|~anyone~|~be sure~|~do not~|~feel fre|~let me k|~make sur|~need~|~never~|~please~|~pls~|~plz~|~somebody~|~someone |~someone~|~want~|~would li|~you~
clause:history|~19|~20|~ago~|~back |~boss~|~child~|~company~|~employer~|~job~|~kid~|~student~|~team~|~those da|~times~|~used to 
clause:frame|~agenda~|~changelo|~checklis|~cons~|~criteria~|~definiti|~describe~|~draft~|~example|~exercise~|~explain~|~faq~|~genre~|~glossary~|~headline~|~imagine~|~make |~of done~|~plot~|~prompt~|~proofrea|~pros~|~quote|~release |~rephrase~|~rewrite~|~sample~|~say~|~scenario~|~shorten~|~slogan~|~steps~|~subject |~summari|~suppose~|~survey~|~synopsis~|~template~|~title|~translat|~troubles|~use this~|~write~|~you are 
clause:negated|~0~|~avoid|~barely~|~cease|~far from~|~free of~|~hardly~|~instead |~neither~|~never~|~no longe|~nobody~|~none~|~nor~|~nothing~|~not~|~no~|~prevent|~rather t|~without~|~zero~
clause:question|~doubt~|~how~|~if~|~what~|~where~|~whether~|~why~|~wonderin
clause:possible|~afraid~|~almost~|~believed~|~can~|~could~|~fear~|~glad~|~half|~hear~|~hopefull|~i guess~|~in theor|~like you~|~likely~|~maybe~|~may~|~might~|~nearly~|~not sure~|~perhaps~|~possibl|~potentia|~prone to~|~risk~|~should~|~supposed|~supposed~|~sworn~|~tend|~think~|~thought~|~worried~|~would~|~you prob
clause:planned|~about to~|~aim|~attempt|~by |~due~|~expect|~goal~|~going to~|~has to~|~have to~|~hop|~intend|~let me~|~let us~|~like~|~love~|~must~|~need|~order to~|~plan|~ready to~|~schedule|~shall~|~start|~target~|~to be~|~tried to~|~try|~trying~|~want|~will~|~wish~|~working 
clause:reported|~accordin|~argue|~asked |~author|~book~|~claim|~et al~|~film~|~game~|~hero~|~mention|~movie~|~my chara|~novel~|~prior wo|~protagon|~proved~|~reads~|~report|~said~|~say|~scene~|~state|~story~|~studies~|~study~|~the arti|~the pape|~the stor|~told~|~trials~|~writes~|~wrote~
clause:past|~ago~|~at the t|~back the|~before t|~had been~|~last |~previous|~used to~|~was~|~were~|~yesterda
clause:general|~always~|~an unhan|~any~|~an~|~a~|~best pra|~by desig|~called~|~caught~|~causes o|~commonly~|~common~|~english~|~example|~fine~|~generall|~general~|~go~|~guide |~handled~|~handling~|~how to~|~ignored~|~in gener|~is anyth|~javascri|~java~|~kind|~known as~|~known~|~listed~|~logged~|~means~|~most~|~node~|~occur|~often~|~process:|~python~|~raised~|~react~|~rethrown~|~retried~|~returned~|~rust~|~shown~|~sometime|~some~|~sql~|~stored~|~such~|~time you~|~to |~type|~typescri|~typicall|~used~|~usually~|~wrapped~
goes-on|adelante|continua|continue|do |go |los|pick |proceed|resume|sigamos|sigue|weiter|~at it|~continue|~did we |~going|~is next|~now|~on|~was~|~weiter|~were~|~y
plan:working|~about ha|~actively~|~again~|~all~|~almost~|~already~|~also~|~back |~basicall|~been |~began~|~begun~|~both~|~busy~|~carrying~|~continui|~currentl|~finally~|~going on~|~hacking~|~half|~here~|~i am~|~in progr|~just~|~knee|~mainly~|~middle~|~mostly~|~nearly~|~now~|~ongoing~|~picked u|~plugging~|~presentl|~process~|~really~|~resumed~|~right no|~slowly~|~started~|~still~|~the mome|~today~|~took ove|~trying t|~two thir|~we are~|~were~|~wip~|~working~
plan:not-working|~asking~|~assuming~|~being~|~blocked~|~coming~|~doing |~expectin|~failing~|~feeling~|~forward~|~getting |~going to~|~going wi|~guessing~|~happenin|~having~|~hoping~|~kidding~|~leaving~|~losing~|~missing~|~no longe|~not~|~pending~|~planning~|~running |~saying~|~seeing~|~sorry~|~starting~|~struggli|~stuck~|~talking |~thinking~|~using~|~waiting~|~wonderin|~worrying~
plan:gerund|ing 
plan:finite|~are~|~break|~broke~|~can~|~cost|~could~|~crash|~did~|~does~|~do~|~fail|~failed~|~get|~give|~hang|~has~|~have~|~help|~is~|~keep|~look|~make|~means~|~need|~require|~seem|~should~|~sound|~take|~throw|~took~|~was~|~were~|~will~|~work|~worked~|~would~
plan:half-done|~almost~|~half|~half of~|~in progr|~left~|~missing~|~nearly~|~not yet~|~ongoing~|~open~|~other|~remain|~rest~|~so far~|~still~|~to go~|~under|~work in |~yet~
plan:next-opening|~after |~afterwar|~as soon |~first th|~followin|~fri|~from the|~later~|~left~|~mon|~next |~next~|~once~|~only |~plan for~|~remainin|~satur|~step~|~still |~sun|~then |~thing~|~this |~thurs|~to do~|~to-do|~todo|~tomorrow~|~tues|~up next|~wednes|~what |~when~
plan:next-within|~after |~afterwar|~also~|~first th|~fri|~left to~|~left~|~mon|~next |~next wee|~next~|~remain|~satur|~still~|~sun|~thurs|~tomorrow~|~tues|~wednes
plan:promise|~am going~|~are goin|~let me|~on it~|~will
plan:let-me|~let me~
words:wants|~aim~|~also~|~assignme|~focus~|~go throu|~goal~|~got~|~have a l|~have~|~job~|~let us |~make sur|~mission~|~must~|~need |~need~|~not forg|~objectiv|~plan~|~remember~|~remind |~still~|~take a l|~task:|~task~|~u~|~want~|~would li|~ya~|~you~
words:informs|~check |~clarify~|~describe~|~explain~|~find out~|~help me |~let me k|~look up~|~remind~|~say~|~show~|~tell~
words:makes|~let us~|~please~|~pls~|~plz~|~u~|~you~
words:settled|~agreed~|~decided~|~final~|~instead~|~settled~
words:dismisses|mind~|~forget |~no need |~not both
words:offer|~i should|~if you |~me to~|~ok|~shall~|~should~|~want me
words:proposal|~i would |~proposal~|~propose~|~recommen|~suggesti|~suggest~
words:needs-input|~check~|~choose~|~confirm~|~need |~please |~provide~|~send~|~share~|~tell~
words:agrees|^agree|^approved|^deal|^do |^exactly|^fine|^go |^good ide|^good pla|^great|^let us d|^makes se|^ok|^perfect|^please d|^sound|^sure|^that wor|^yeah|^yep|^yes|^yup|👍
words:calls-off|mind~|~cancel |~drop |~forget |~leave |~needed a|~no need |~not both|~scrap |~skip |~stop 
words:done|~all set|~complete|~did it|~done|~exactly |~finished|~fixed|~fixed it|~it is |~it works|~lgtm|~sorted|~that is |~the tric|~worked|~works 
words:delivers|~attached~|~below |~here 
words:partly|~except~|~first |~half~|~last |~not yet~|~of |~others~|~other~|~part of~|~partiall|~partly~|~remain|~remainin|~rest~|~so far~|~still 
words:rest|~other|~remainin|~rest~
words:failed|~can not~|~could no|~did not |~failed~|~fails~|~gave up~|~not able~|~rolled b|~unable~
words:small-talk|~birthday~|~breakfas|~cat~|~coffee~|~dad~|~dinner~|~dog~|~film~|~football~|~holiday|~horoscop|~how are |~husband~|~joke~|~kid|~lunch~|~mom~|~movie~|~mum~|~music~|~poem~|~raining~|~recipe~|~restaura|~sleepy~|~slept~|~soccer~|~song~|~sunny~|~tired~|~vacation~|~weather~|~weekend|~wife~
words:leaves|~afk|~back |~brb|~good nig|~got to~|~have to~|~must~|~need to~|~off |~see you|~signing |~talk |~us call 
words:work|~agenda~|~api~|~branch~|~budget~|~bug|~build~|~campaign~|~ci~|~client|~code_~|~code~|~config|~contract~|~customer|~database~|~data~|~deadline~|~deploy|~doc|~draft~|~error|~feature~|~fix|~invoice|~launch~|~merge~|~migrat|~minutes~|~page~|~path_~|~pipeline~|~project~|~proposal~|~prs~|~pr~|~refactor|~release|~report|~review~|~script~|~server~|~site~|~slides~|~spreadsh|~test|~ticket~
words:in-earnest|~agreed~|~are havi|~blocked~|~book|~can not~|~cancel|~caterer~|~confirm|~decided~|~design|~finish|~going~|~guest|~has to~|~have to~|~instead~|~invit|~must~|~need|~next~|~order|~plan|~please~|~problem~|~settled~|~stuck~|~task|~venue~|~wait|~went~|~work
words:thanks|~thank yo|~thanks~|~thx~
words:wishes|~hope 
request:please|~please~|~pls~|~plz~|~u~|~you~
request:still|~still 
decision:decided|~adopted~|~agreed~|~approved~|~chosen~|~chose~|~committe|~conclude|~decided~|~elected |~gone |~green-li|~greenlit~|~landed o|~made the~|~made up |~off on~|~opted~|~picked~|~rejected~|~resolved~|~ruled ou|~scrapped~|~selected~|~settled |~standard|~the idea~|~vetoed~|~voted~|~went 
decision:decided-bare|~agreed~|~approved~|~chosen~|~chose~|~decided~|~made up |~off on~|~opted~|~picked~|~poll~|~rejected~|~rejectin|~ruled ou|~said |~selected~|~settled |~settled~|~signed o|~vetoed~|~voted~|~vote~|~went wit|~wins~
decision:decision-label|~agreed|~call|~call~|~conclusi|~consensu|~decided|~decision|~decision~|~final an|~of plan|~outcome|~plan cha|~policy|~resoluti|~rule|~ruling|~verdict|~verdict~
decision:let-us|~let us 
decision:let-us-choice|~let us 
decision:going-with|~adding~|~adopting~|~building~|~buying~|~calling |~cancel|~changing~|~choosing~|~committi|~cutting~|~defaulti|~delaying~|~deprecat|~ditching~|~doing it~|~doing~|~dropping~|~freezing~|~going fo|~going to~|~going wi|~going~|~hiring~|~holding~|~keeping~|~killing~|~launchin|~leaving |~limiting~|~making i|~merging~|~migratin|~moving |~moving t|~no |~opting f|~opting~|~parking~|~pausing~|~picking~|~postponi|~rejectin|~removing~|~renaming~|~replacin|~retiring~|~rolling |~ruling o|~scrappin|~settling~|~shelving~|~shipping~|~signing |~skipping~|~splittin|~standard|~starting~|~staying |~sticking~|~supporti|~switchin|~taking |~touching~|~using~
decision:will-choose|~am going~|~are goin|~shall~|~will~
decision:will-not|~not 
decision:we-rule|~we 
decision:it-is|final~|negotiab|~a go~|~a no-go~|~agreed~|~approach~|~approved~|~capped a|~case clo|~convince|~decided~|~discuss|~end of |~final~|~fixed at~|~full sto|~it a day~|~it is se|~it is~|~limited |~no discu|~no excep|~not nego|~of scope~|~off the |~period~|~set at~|~set in s|~settled~|~that is |~that set|~the plan~|~the rule~|~way~|~winner i
decision:from-now-on|~as of |~effectiv|~from now~|~going fo|~hencefor|~here on~|~monday~|~moving f|~next |~starting~|~today~|~until fu
decision:go-with-plan|~first~|~former~|~in favo|~instead |~latter~|~option |~other~|~per |~picked |~plan |~rather t|~second~|~third~|~what we 
decision:contrast|~move|~moved~|~not |~now~|~pushed~|~remain|~shift|~slip|~stay|~the mvp~|~this rel|~time bei|~v1~
decision:scratch|~cancel~|~ditch~|~drop~|~forget~|~go with~|~hold off~|~keep~|~kill~|~leave~|~nah~|~never mi|~nix~|~park~|~postpone~|~scrap~|~scratch~|~skip~|~stick wi|~take~|~use~
decision:approve|^agreed~|^approved~|^confirme|^deal~|^fair eno|^fine|^go ahead~|^noted|^noted |^ok|^sold~|^sounds g|^sure|^understo|^works|^yes|^you conv|~1 
decision:assistant-choice|~agreed|~answer~|~avoided~|~choice~|~chose|~chosen~|~chose~|~decided|~decided~|~decision~|~defaulte|~discusse|~dropped~|~feedback~|~gone~|~kept~|~left~|~limited~|~named~|~omitted~|~opted~|~picked~|~placed~|~prefer|~preferen|~preferre|~ruled~|~ruling~|~said |~settled|~settled |~settled~|~skipped~|~stuck~|~treated~|~went~
decision:will-only|^all righ|^fine~|^nah~|^no~|^ok|^right~|^so~|~is now~|~is set~|~moves~|~remain|~shall~|~shifts~|~slips~|~stay|~stays~|~the righ|~will be~|~will~|~yes plea
decision:we-present|~we 
decision:we-doing|~i am~|~we are~
decision:will-open|~going to~|~then we |~we will 
blocker:harming|~back~|~breaking~|~clashes~|~conflict|~costing~|~destroyi|~eating~|~flooding~|~hogging~|~holding~|~hurting~|~interfer|~keeping~|~killing~|~off~|~only |~preventi|~returnin|~ruining~|~slowing~|~spamming~|~stopping~|~swamping~|~throwing~|~wrecking~
blocker:stopped|~dark~|~ghosted~|~gone |~offline~|~silent~|~stopped |~to a 
blocker:fails|~bails~|~barfs~|~blows up~|~bombs ou|~bounces~|~breaks~|~chokes~|~conks ou|~contradi|~corrupts~|~craps ou|~crashes~|~crawls~|~cuts out~|~deadlock|~dies on~|~dies~|~error|~explodes~|~fails~|~falls ov|~flatline|~freezes~|~gives up~|~goes dow|~grinds t|~hangs~|~leaks~|~loops fo|~mangles~|~overflow|~panics~|~refuses~|~rejects~|~runs out~|~segfault|~stalls~|~stops wo|~takes fo|~times ou
blocker:fail-plain|~blow up~|~break~|~crash~|~die~|~error ou|~explode~|~fail~|~freeze~|~hang~|~time out~
blocker:throws|~answers |~back wit|~exit|~gets~|~getting~|~get~|~give|~giving~|~got~|~hits~|~hitting~|~hit~|~produce|~receiv|~report|~result|~return|~returnin|~seeing~|~see~|~show|~spit|~throw|~throwing~
blocker:failing|~acting u|~blocking~|~blowing |~bouncing~|~breaking~|~choking~|~crashing~|~dying~|~erroring~|~failing~|~falling |~flapping~|~freezing~|~hanging~|~leaking~|~looping~|~misbehav|~of sync~|~piling u|~refusing~|~rejectin|~stalling~|~throwing~|~timing o|~worse~
blocker:keeps-on|~keep|~kept~
blocker:failed|^broke~|^crashed~|^failed~|^locked o|^lost |^ran out |^timed ou|~backfire|~blew up~|~bounced~|~broken~|~broke~|~choked~|~collapse|~crashed~|~died~|~errored~|~errors~|~exploded~|~failed_|~failed~|~failing~|~failures~|~fell ove|~fell thr|~froze~|~got |~hung~|~ran out |~stalled~|~timed ou|~went dow
blocker:bad-state|limited~|protecte|~a paywal|~borked~|~bricked~|~broken~|~busted~|~corrupt|~dead~|~delayed~|~denied~|~expired~|~flaky~|~frozen~|~fubar~|~hosed~|~inaccess|~incompat|~insuffic|~jammed~|~kaput~|~locked o|~messed u|~misconfi|~not acce|~not avai|~offline~|~on fire~|~oomkille|~out of |~overload|~reachabl|~revoked~|~screwed~|~suspende|~throttle|~toast~|~unavaila|~understa|~undocume|~unreacha|~unrespon|~unstable~|~unusable~
blocker:weak-state|~a mess~|~blank~|~disabled~|~down~|~duplicat|~empty~|~failing~|~full~|~garbage~|~gone~|~invalid~|~late~|~locked~|~lost~|~mangled~|~missing~|~nan~|~nowhere~|~off by~|~out~|~pending~|~red~|~rejected~|~slow~|~swapped~|~too |~useless~|~wrong~
blocker:not-working|~no longe|~not |~not work|~refus|~would no
blocker:does-not|~not 
blocker:broke-it|~breaks~|~bricked~|~broken~|~broke~|~corrupte|~killed~|~kills~|~messed u|~nuked~|~takes do|~took dow|~trashed~|~wiped~
blocker:having-trouble|~bug|~conflict|~crash|~critical|~deadlock|~difficul|~error|~exceptio|~failure|~glitch|~hiccup|~issue|~leak|~outage|~problem|~regressi|~roadbloc|~snag|~stack tr|~timeout|~trouble|~warning
blocker:the-problem-is|^blocked~|^blocker~|^broken~|^bug~|^failing~|^issue~|^problem~|^stuck~|~bug|~catch|~challeng|~issue|~obstacle|~problem|~snag|~trouble
blocker:harm|~ate~|~banned~|~canceled~|~cancelle|~charged |~clobbere|~clobbers~|~closed~|~deleted~|~deletes~|~denied~|~denies~|~double~|~dropped~|~drops~|~duplicat|~eats~|~flagged~|~forgets~|~forgot~|~garbled~|~hijacks~|~ignored~|~ignores~|~kicked~|~kicks~|~logs |~loses~|~lost~|~mangled~|~overwrit|~overwrot|~refused~|~rejected~|~resets~|~revoked~|~shut~|~skips~|~stripped~|~strips~|~swallowe|~swallows~|~truncate|~twice~|~wiped~|~wipes~|~wrong 
blocker:wrong-verb|~abort|~aborted~|~backfire|~balk|~barf|~block|~bomb|~bounc|~break|~choke|~clash|~clog|~collaps|~collapse|~complain|~conflict|~contradi|~corrupt|~crash|~crawl|~cripple|~crumbl|~degrad|~deterior|~die|~died~|~disappea|~discard|~disconne|~diverg|~diverged~|~drift|~drop|~dupl|~evict|~exited~|~expir|~expired~|~explod|~fail|~falter|~fell |~flake|~flap|~flicker|~flood|~forbid|~freez|~garbl|~glitch|~halt|~hang|~hinder|~interrup|~jam|~lag|~laps|~lapsed~|~leak|~loop|~los|~lost~|~mangl|~misbehav|~mismatch|~miss|~obstruct|~oscillat|~overflow|~overheat|~overrun|~panic|~paralys|~paralyz|~prevent|~puke|~quietly |~quit~|~refus|~regress|~regresse|~reject|~revok|~scrambl|~segfault|~silently~|~slip|~slipped~|~spam|~stall|~stalled~|~starv|~struggl|~stutter|~suspend|~swallow|~tank|~terminat|~throttl|~truncat|~vanish|~vanished~|~violat|~vomit|~wedg|~went 
blocker:took-down|~4|~5|~a backlo|~add up~|~are fail|~bad~|~before |~behind s|~brings~|~broke~|~brought~|~failed~|~fail~|~get past~|~halt~|~have not|~hold~|~impossib|~knocked~|~knocks~|~line up~|~make sen|~match~|~me from~|~missing~|~not foun|~nowhere~|~overdue~|~past due~|~pause~|~standsti|~takes~|~to wait~|~took~|~unanswer|~unproces|~wrong~
blocker:bad-news|handed~|~a corner~|~a pain~|~backed o|~black sc|~burned o|~called i|~dead lin|~down~|~fell ill~|~grey scr|~hit by~|~kick|~lock|~neither |~not a si|~off by~|~on leave~|~on strik|~only |~out sick~|~over bud|~over quo|~pulled o|~pulled t|~quit on |~red herr|~shut |~shut us~|~slow|~slowed t|~the limi|~time|~torn dow|~under at|~under wa|~used up~|~walked o|~white sc|~wild goo
blocker:half-gone|~4|~5|~been at |~fine|~half |~itself~|~now |~off|~ok|~okay|~right|~too 
blocker:same-again|~back~|~same |~these~|~this~
blocker:trailing-not|~figure o|~find~|~know~|~not~|~see~|~tell~|~understa
blocker:breakdown|%|~as far a|~at capac|~baffled~|~blows~|~blue scr|~climbs~|~clueless~|~core dum|~data los|~deadlock~|~doomed~|~downtime~|~enough~|~expected~|~good~|~grows~|~infinite~|~invisibl|~kernel p|~lost her|~memory l|~merge co|~merge he|~moving~|~needs~|~need~|~null poi|~outage~|~overwhel|~progress|~race con|~requires~|~screwed~|~seg|~short |~stack ov|~stumped~|~swamped~|~take|~taking~|~the repo~|~there~|~took~|~unreadab|~unstable~
insight:realised|^discover|^figured |^found ou|^learned~|^learnt~|^noticed~|^realised~|^realized~|~as i now~|~discover|~figured |~found ou|~get |~had no i|~i see, |~know tha|~know why~|~known|~learn|~never kn|~noticed |~reali|~see now|~see now~|~spotted~|~tells |~understa|~understo|~what i m|~why~|~worked o
insight:turns-out|~aha~|~as it ha|~catch~|~culprit~|~eureka~|~finding~|~found it~|~insight~|~interest|~it appea|~key~|~lesson|~mystery |~secret~|~surprisi|~takeaway~|~trick~|~turned o|~turns ou|~was it~|~who knew~
insight:apparently|~ah|~apparent|~funny~|~huh~|~interest|~oh
insight:cause|~boils do|~came fro|~cause~|~come|~culprit~|~died bec|~dominate|~due to t|~explains~|~explanat|~failed b|~is cause|~is happe|~is where~|~is why~|~narrowed~|~pinned i|~reason~|~root cau|~trace|~was caus|~was why~|~what hap
insight:because|~because 
insight:is-so-because|~because~|~since~
insight:all-along|~after al|~all alon|~all this~|~end it w|~it |~the enti|~the whol|~was to b
insight:only-when|~only 
insight:not-the-suspect|~about~|~after al|~and not |~at all~|~because~|~due to~|~not the |~to do wi
insight:share|~account|~caused~|~dominate|~drive|~due~|~explain|~from~|~held~|~into~|~lost~|~retained~|~spent~|~used~
insight:looked-into|^after |^bisected~|^checked~|^compared~|^comparin|^digging~|^dug~|^going~|^looked~|^looking~|^plotted~|^plotting~|^profiled~|^profilin|^reading~|^watched~|^watching~|^went~
insight:fix-explained|~cracked~|~fixed~|~found~|~nailed~|~solved~
insight:not-but|~actually~|~are just~|~depend|~disappea|~in fact~|~is just~|~never |~not 
blocker:remaining|~error|~failing~|~failure|~problem
blocker:not-in-place|~applied~|~approved~|~availabl|~configur|~defined~|~given~|~granted~|~installe|~mounted~|~need |~present~|~provided~|~provisio|~publishe|~reachabl|~set~|~signed~
blocker:lacks|~conflict~|~do not |~does not~|~hell~|~lacking~|~lacks~|~mismatch~|~need|~no longe
blocker:nothing-does|~neither~|~no one~|~nobody~|~none of |~nothing~
blocker:cannot|~can~|~could~
blocker:unable|~able to|~at a los|~at my wi|~cannot b|~failed t|~failing |~fails to|~gave up|~giv|~impossib|~incapabl|~luck|~no dice|~no luck|~no matte|~no way |~nothing |~of ideas|~of~|~seems to|~struggl|~success|~to no av|~tried ev|~unable t
blocker:stuck|~at a sta|~at an im|~blocked~|~dead in |~deadlock|~frozen~|~gridlock|~hamstrun|~held up~|~hung up~|~in limbo~|~on hold~|~on ice~|~paraly|~stalled~|~stranded~|~stuck~
blocker:blocked-by|breaker~|stopper~|~blocked |~blocker|~blocker~|~blocking~|~blocks |~dead end~|~hit |~holding |~holds |~impedime|~prevent|~roadbloc|~stops |~way of~
blocker:waiting|~awaiting~|~depends |~held |~hinges o|~pending |~waiting~|~wait~
blocker:need-first|~before~|~can do~|~movement~|~need|~progress~|~to wait~|~unless~|~until~|~without~
blocker:lack|~access~|~answer~|~approval~|~bandwidt|~budget~|~capacity~|~clue~|~connecti|~credenti|~document|~electric|~environm|~feedback~|~funding~|~idea |~idea~|~internet~|~licen|~network~|~no one~|~nobody~|~of us~|~output~|~permissi|~power~|~quota~|~reply~|~response~|~rights~|~runs~|~signal~|~staff~|~time lef|~types~|~way~|~word~
blocker:not-yet|~able~|~answered~|~approved~|~arrived~|~back~|~come~|~delivere|~given~|~gotten~|~got~|~granted~|~heard~|~landed~|~merged~|~moved~|~paid~|~provided~|~provisio|~publishe|~received~|~refreshe|~replied~|~responde|~run~|~sent~|~shipped~|~shown~|~signed~|~still |~synced~|~updated~
blocker:resource|~access d|~access~|~at 9|~backoff~|~denied~|~error|~exit|~forbidde|~full~|~lock hel|~locked o|~merge co|~only has~|~oomkille|~oom~|~out of |~paper ja|~quota~|~rate|~unauthor|~vulnerab
blocker:sigh|failed_|~annoying|~argh|~bad news~|~crap~|~dammit~|~damn~|~driving |~frustrat|~help!|~nightmar|~nope~|~sadly~|~sos~|~ugh|~unfortun|~urgent~|~wtf~
blocker:persists|~again~|~back~|~days~|~hours~|~since |~still~|~time~|~weeks~
blocker:has-none|~no 
blocker:no-outcome|~coming~|~doing~|~getting~|~going |~have not|~is missi|~letting~|~missing |~moving~|~nothing |~picking~|~reaching~|~receivin|~showing~|~so |~syncing~|~with no 
blocker:delay|~and coun|~behind~|~days~|~hours~|~idle~|~in revie|~late~|~lying~|~months~|~overdue~|~parked~|~pending~|~sitting~|~stuck~|~till~|~unanswer|~until~|~weeks~|~with no~
blocker:idiom|~acting |~are tied~|~bleeding~|~burned t|~circles~|~clogged~|~come|~confused~|~cut off~|~embargoe|~endless|~fall bac|~falling |~fighting~|~for ages~|~forever~|~goe|~hair out~|~head aga|~hosed~|~lost cau|~lost~|~no end i|~no joy~|~nobody |~of my de|~out of |~overload|~piling u|~somethin|~spin|~spinner~|~square o|~the air~|~the dark~|~the frit|~the wron|~to be fo|~tripping~|~understa|~way off~|~won't 
blocker:lost-hours|~all day~|~all morn|~an hour~|~days~|~entire~|~hours~|~make no |~makes no~|~whole~
blocker:no-output|~no 
blocker:standing-still|starter~|~closed~|~continue~|~deactiva|~encrypte|~fully bo|~go |~grounded~|~happen~|~idle~|~kills th|~leave|~leaving~|~lie~|~lying~|~make|~no end |~no repla|~nobody |~not much~|~nothing |~of the q|~off the |~off~|~on leave~|~on strik|~only one~|~parked~|~proceed~|~quaranti|~queued~|~shut~|~sits~|~sitting~|~sit~|~sold out~|~standing~|~stands~|~stand~|~the shel|~up in sm
blocker:goes-bad|~accumula|~black~|~blank~|~blow|~boots~|~bounce|~comes up~|~complain|~crashes |~crazy~|~cut|~dark~|~disagree~|~empty pa|~errors w|~fails wi|~haywire~|~in circl|~is absen|~lost |~not perm|~not want|~offline~|~only |~opens~|~prints~|~returns~|~show|~silent~|~starts~|~stuck th|~throws~|~until |~white~|~works~
scope_creep:while-at-it|~and also~|~another |~might as~|~migrate~|~more thi|~oh and~|~redo~|~rewrite~|~since |~throw in~|~while |~you also~
scope_creep:outgrown|~another |~balloon|~beyond~|~bigger t|~blows~|~blow~|~creep~|~exceed|~expand|~for what~|~meant~|~mission |~much big|~only wan|~original|~outside~|~platform~|~quote_ a|~scope |~series~|~snowball|~supposed~|~well bey
scope_creep:never-asked|~agreed~|~ask for~|~ask you~|~asked fo|~asked~|~brief|~brief~|~budget|~card|~contract|~contract~|~covers |~cover~|~deal|~differen|~include~|~issue|~job|~mentione|~mention~|~never |~never~|~not~|~of work|~offer|~order|~ordered~|~order~|~plan|~planned~|~proposal|~quote|~quote~|~request|~requeste|~scope|~separate~|~sow|~spec|~spec~|~story|~task|~ticket|~ticket~|~whole ne
scope_creep:grew|~add|~adding~|~agreed |~along th|~as well~|~asked~|~asking f|~asking~|~asks for~|~become~|~began~|~begun~|~ended up~|~extras~|~grown in|~morphed~|~now |~ordered~|~original~|~piling~|~planned~|~promised~|~quoted~|~slipped~|~slipping~|~smuggled~|~sneaked~|~sneaking~|~snuck~|~started~|~too~|~turn|~wanted~
decision:answered-choice|^actually~|^agreed~|^all righ|^convince|^cool~|^deal~|^done dea|^fair eno|^fair~|^final~|^fine~|^good poi|^good~|^great~|^hm|^k~|^makes se|^nah~|^nope~|^not wort|^no~|^okay~|^ok~|^on refle|^perfect~|^please~|^point ta|^right~|^settled~|^sold~|^sounds |^so~|^sure~|^then~|^understo|^well~|^works fo|^yeah~|^yep~|^yes~|^you win~|^yup~|~are righ
decision:answered-name|^all righ|^convince|^fine~|^nah~|^nope~|^okay~|^ok~|^right~|^sold~|^so~|^well~|^yes to |^yes~|^you win~|^your |~bigger~|~blue~|~cheaper~|~first~|~former~|~it is~|~last~|~latter~|~other~|~second~|~smaller~|~third~
decision:no-thing|~no 
decision:no-rule|~no 
decision:body-settled|~agreed |~and that~|~chose~|~decided |~ok'd~|~okayed~|~opted |~picked~|~ruled |~settled |~signed |~turned |~vetoed~|~voted |~went 
decision:assent|(|agreed~|approved~|confirme|gave |okayed~|said |~against~|~by major|~clear |~fine~|~happy~|~it off~|~off~|~okay~|~ok~|~on board~|~unanimou|~vote: |~vote~
decision:after-talk|^after~|^as per~|^checked~|^cleared~|^discusse|^followin|^in~|^per |^per~|^spoke~|^talked~|^went ove|~agreed~|~cleared~|~decided~|~settled~
decision:becomes|^deferred~|^postpone|^reschedu|^scrapped~|^shelved~|^vetoed~|~all of u|~become|~capped a|~come|~cut~|~debate~|~delayed~|~deprecat|~discussi|~dropped~|~everybod|~everyone~|~extended~|~fixed at~|~from |~goe|~limited |~matter~|~moved to~|~moved~|~own~|~postpone|~remain|~removed~|~renamed~|~replaced~|~retired~|~run|~scrapped~|~shelved~|~stay|~sunset~|~topic~|~unchange|~whole te
decision:that-is-how|^so |~as wontf|~be~|~can live~|~hereby~|~i take t|~is the |~it is a |~it like |~it will |~not wort|~off the |~plenty |~that is |~to me~|~we accep
decision:settled-talk|^no more |~abandon|~across t|~and fort|~are righ|~board wi|~debate~|~declin|~discussi|~do the |~everyone~|~everywhe|~for v|~matter w|~on it:|~on secon|~rather n|~ruled ou|~screw it~|~since yo|~spoken~|~spoke~|~stay|~talked~|~the mvp~|~thought~
decision:will-be|~are to b|~as is~|~as they |~delibera|~first~|~i accept~|~i say we~|~is to be~|~locked~|~locking~|~lock~|~on purpo|~owns the~|~plan is |~will be~
decision:then|^all righ|^fine~|^nah~|^no~|^ok|^right~|^yes~|~dead|~i will |~is then~|~out|~then it |~then~
decision:must-be|~all~|~any~|~each~|~every~|~i want |~is going~|~source o|~will be |~will tak
task_created:todo|~action i|~follow|~forget~|~new task~|~note |~remember~|~remind m|~reminder~|~to-do~|~todo~
task_created:ticket|#|-|^action i|^bug|^card|^change r|^follow|^issue|^story|^task|^ticket|~action i|~bug|~card|~change r|~collecte|~follow|~issue|~just fil|~listed~|~new~|~noted~|~own~|~separate~|~story|~task|~there is~|~ticket|~wrote do
task_created:noted-down|^after th|^for late|^later~|^next tim|^someday~|do|~agenda~|~backlog~|~board~|~calendar~|~checklis|~down |~jira~|~kanban~|~later~|~left~|~list~|~next |~noted~|~parked~|~phase tw|~put on |~revision~|~roadmap~|~saved~|~shopping~|~the next~|~the week|~tracker~
task_created:due|~due |~latest~|~somebody~|~someday~
task_created:need|^need to~|^someone |~have~|~needs to~|~need~
about-text|play~|~brochure~|~caption~|~card~|~characte|~dialogue~|~draft~|~examples~|~example~|~exercise~|~fictiona|~headline~|~how do |~hypothet|~imagine~|~joke~|~lyrics~|~metaphor~|~novel~|~options |~paragrap|~phrase|~poem~|~pretend~|~prompt~|~proofrea|~protagon|~quiz~|~rephrase~|~reply to~|~rewrite~|~risks yo|~sample~|~scene~|~sentence|~skeleton~|~slide|~slogan~|~song~|~stories~|~story~|~synonym|~template~|~title~|~transiti|~translat|~wording~|~workshee
`;
