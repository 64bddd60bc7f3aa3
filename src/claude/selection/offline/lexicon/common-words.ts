/**
 * How much a word says, for words that are met everywhere. What is not listed here says something.
 * Three steps: words that say nothing, words of every task, words that narrow it down only a little.
 */
const NOTHING = `a an the and or but nor so yet if then than else when while where why how what which who whom whose this that these
those there here it its it's he she they them their theirs his her him we us our ours you your yours i me my mine is am are was were be
been being do does did doing done have has had having will would shall should can could may might must ought need needs needed of to in on
at by for from with without within into onto out over under again further about above below between through during before after up down off
as until because since against per via not no nor only own same such too very just also even still already ever never always often sometimes
once more most some any all both each few other another many much several every either neither one two three four five six seven eight nine
ten first second third last next previous now then today tomorrow yesterday please thanks thank hi hello hey ok okay yes yeah no let lets let's
got get gets getting give gives given go goes going gone went come comes coming came take takes taking took make makes making made put puts
want wants wanted like likes see sees seen saw look looks looking know knows known think thinks say says said tell tells ask asks seem seems
keep keeps kept try tries tried trying thing things something anything nothing everything someone somebody anyone nobody everybody people way
ways bit lot lots kind sort stuff whole really actually maybe perhaps quite rather almost instead together away back around along across etc eg
ie vs cannot can't don't doesn't didn't isn't aren't won't wouldn't shouldn't i'm we're you're they're i'd i'll we'll we've i've that's there's
what's who's able unable upon toward towards among whether though although however thus hence therefore else both plus minus less least enough
soon later early ago hour hours minute minutes second seconds day days week weeks month months year years time times long short big small large
good bad better best worse worst nice great new old fresh right left sure certain different similar various own proper properly correctly really half
next currently recently finally eventually immediately automatically manually simply easily well far near part parts place places side sides
end ends start starts begin beginning middle top bottom inside outside use uses used using usage useful re com org www quick quickly
getting-rid suddenly apparently basically certain exactly simply way anyway somehow somewhere possible possibly impossible easy easier hard
harder difficult understand wonder believe guess mean means meant happen happens happened become becomes became stay stays leave leaves left
bring brings brought turn turns turned let's figure figures thanks cheers pls plz asap fyi btw imho wip todo ps hmm oh ah um
`;

const EVERY_TASK = `fix fixes fixed fixing add adds added adding update updates updated updating change changes changed changing
create creates created creating implement implements implemented implementing implementation improve improves improved improving improvement
remove removes removed removing delete deletes deleted deleting replace replaces replaced replacing support supports supported supporting
handle handles handled handling write writes writing written build builds building built set sets setting setup set-up run runs running ran
work works working worked move moves moved moving show shows showing shown display displays check checks checked checking allow allows allowed
enable enables enabled disable disables disabled ensure ensures call calls called find finds found review finish complete continue resolve
resolves investigate debug debugging introduce extend prepare provide provides return returns returned read reads reading
code codes file files function functions method methods class classes object objects variable variables value values line lines
bug bugs issue issues problem problems error errors task tasks feature features project projects application applications system systems
program software tool tools module modules library libraries package packages script scripts branch main master develop trunk repository
user users customer customers client clients person data information number numbers name names type types list lists item items
entry entries option options default defaults case cases example examples sample test tests testing new page pages
service services server servers app apps api apis web website site frontend backend side interface ui
http url link links text string strings version versions step steps state states status result results
logic behaviour behavior flow flows process approach solution idea plan request requests response responses
src lib libs test tests dist docs index main app apps packages util utils utilities common core shared helper helpers
internal pkg cmd public components views
need possible correct wrong broken missing stop stops stopped open opens opened close closes closed load loads loaded loading
send sends sent sending receive start startup press presses click clicks clicked enter
production staging development environment local live
company team business customer's users' everyone operator operators visitor visitors
small simple basic generic general specific custom current existing separate single multiple two extra additional
level amount total set group sets size count instance mode detail details area content
again behind twice dead proof concept
`;

const A_LITTLE = `page pages screen view button table form field list header account request server client database query model event events message messages
message image images component button menu settings config configuration input output format report
document job worker queue node key token session cache index stream thread channel port container bridge driver agent policy
pool node tree graph layer record records order orders product products image map level event handler hook hooks
template rule rules action actions filter sort search import export sync log logs logging
admin dashboard panel tab card icon label title description comment tag category column row rows cell
connection network socket signal lock resource manager controller provider store storage context window frame scene
job batch pipeline build release deploy environment variable flag
limit threshold range position offset length width height time date point path target source origin
phone device browser android ios chrome firefox safari windows linux mac
password login email mail
python javascript typescript rust go java ruby
docs documentation readme changelog comment
rename warning clean option options legacy
crash crashes fail fails failing slow
`;

/** Ordinary English that says something about anything. */
const ORDINARY = `older newer oldest newest latest longer shorter bigger smaller larger higher lower faster slower simpler cheaper stronger weaker wider deeper cleaner
high low wide narrow deep shallow strong weak heavy light bright loud quiet clean dirty full empty free busy ready late quick rare common usual unusual normal
strange weird funny ugly pretty dumb smart clever clear unclear obvious visible invisible hidden random consistent inconsistent constant permanent temporary final initial
important necessary optional required extra spare whole entire partial complete incomplete available unavailable everywhere nowhere anywhere
remember remembers forget forgets forgot ignore ignores ignored accept accepts accepted reject rejects refuse avoid prevent prevents protect cause causes
become appear appears appearing disappear exist exists include includes contain contains consist belong hold holds carry follow follows lead leads pull push pushes hit hits
catch throw pick picks choose chooses select selected cut cuts break breaks tear split join joins mix match matches fit fits fill fills cover covers wrap spread
grow grows shrink shrinks raise raises rise rises drop drops fall falls stand stands sit sits lie wait waits watch watches hear listen speak talk write
walk walks jump jumps fly flies travel reach reaches arrive arrives return pass passes cross crosses enter exit lose loses win wins spend save saves keep
count counts measure measures compare compares decide explain explains describe describes mention suggest suggests suggestion propose proposal expect expects hope
cancel cancels repeat repeats rename revert undo redo apply applies adjust adapt reset switch swap reorder reordering sort sorted
first-time person persons human humans owner owners member members friend friends child children family colleague bob alice boss manager guy folks hires
world country city home house office room door wall walls floor table chair box boxes bag car road street
morning evening night overnight noon weekend monday tuesday wednesday thursday friday saturday sunday january february march april june july august september october november december
summer winter spring autumn holiday today's yearly monthly weekly daily
edge corner middle center centre front rear border gap hole spot area region zone section block chunk piece half quarter double triple pair couple dozen hundred thousand million zero
red green blue yellow black white grey gray orange purple pink
reason reasons purpose goal goals effect effects benefit chance risk choice choices decision question questions answer answers topic subject point points
amount degree rate quality quantity shape form style kind sort class rank order turn round phase stage moment period duration age
top-level upper lower outer inner next-to nearby far distant close closer together apart alone separately independently
reduce reduces reduced increase increases detect detects detected generate generates generated generating generator collect collects compute computes computed estimate estimates estimated
calculate calculates determine determines verify verifies convert converts transform produce produces publish consume respond responds react reacts notice noticed recognise recognize
investigate inspect track tracks tracking block blocks blocked kill kills killed growing growth laptop laptops desk paper papers letter website websites operator platform platforms statement statements
respect guarantee force forces forced trigger triggers triggered fire fires attach attached detach tie link linked connect connects store stores stored place placed insert inserts replace
copy copies duplicate clone share shares sharing give extend limit limits restrict expose hide hides reveal list listed gather separate separates combine merge merges
overwrite overwrites overwriting lose destroy wipe wiped clear cleared erase flush drain fix repair restore recover survive handle treat manage organise organize arrange structure
user-facing internal external third-party native foreign own private public global local remote central single-page full-size
scale scales scaled scaling adapt tune tweak polish modern legacy ancient experimental beta alpha official
proceed discussed agreed planned squash commit commits rebase
sign signs marks mark bell ring sound look feel touch taste smell hand hands head eye eyes face foot arm leg body heart
`;

const WEIGHTS = new Map<string, number>();
for (const [words, weight] of [
  [ORDINARY, 0.4],
  [A_LITTLE, 0.7],
  [EVERY_TASK, 0.12],
  [NOTHING, 0],
] as const) {
  for (const word of words.split(/\s+/)) if (word !== "") WEIGHTS.set(word, weight);
}

/** From 0 (says nothing) to 1 (says a lot). */
export function wordWeight(word: string): number {
  return WEIGHTS.get(word) ?? 1;
}

const FILLERS = new Set(
  "a an the my our your his her its their this that these those three four five six seven eight nine ten very so too just really quite only also some any".split(
    " ",
  ),
);

/** Words that may stand within a term without changing it: "takes eight seconds", "off by an hour". */
export function isFiller(word: string): boolean {
  return FILLERS.has(word) || /^\d+$/.test(word);
}
