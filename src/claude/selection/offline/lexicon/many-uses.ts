/** Nouns that every trade uses for something else. That two texts share one of them says next to nothing. */
import { stem } from "../stem.ts";

const MANY_USES = `access account action adapter address agent alarm alert anchor animation app application archive array asset attachment
attribute auction audit backup badge balance bank banner bar base batch battery beam benchmark bias bill binding bit block board body bond
book booking boot border bot bottleneck boundary box branch bridge broker browser bubble bucket budget buffer bug builder bundle burst bus
button cable cache calendar call camera campaign canvas capture car card carrier cart case cast catalog category cell chain chamber channel
chapter character charge chart chat check checkout chip choice circuit claim class client clip clock cloud cluster coach code coin collection
color column command comment commit company compass completion component compression condition conductor connection consent console constant
contact container content contract contrast control controller conversion cookie copy core corner count counter coupon course court cover crane
crash crawler credit crop cross current cursor cut cycle cylinder dashboard data database date deal dealer deck delivery demo density depth
design desk detail detection device diagram dial dialog dictionary digest dimension direction director discharge discount dispatch display
distance dock document domain door draft dragon drain drawer drift drive driver drop drum duty edge editor element email emergency emission
engine entry envelope environment epoch error escape estimate event exam exchange expansion experiment explosion export expression extension
extract eye fabric face factor factory fair family fan feature feed field file fill film filter fire firewall fit fixture flag flash fleet
flight float flow flower focus fold folder font footer force forecast fork form format formula forward frame freeze frequency friend front fuel
function fuse gallery game gap garage garbage gas gate gateway gauge gear generation generator gift glass goal grade grain graph gravity grid
group guard guest guide hall handle handler hardware hash head header health heap heat hedge height hierarchy hit hold hole home hook host hotel
house hub icon identity image impact import impression index indicator inheritance input insert inspection instance instruction instrument
insurance integration interest interface interval inventory invitation issue item jacket job join joint journal journey jump junction kernel key
keyboard kit label ladder lag lane language latch launch layer layout lead leader leaf league leak learning lease ledger leg length lens lesson
letter level library licence lift light limit line link list listing listener load loan lobby location lock log logger loop lot machine magazine
magnet mail main manager manifest map mapping margin mark marker market mask mass master match material matrix meal measure media medium meeting
member memory menu merge mesh message meter method migration mine minor mirror mission mix mixer mobile mock mode model module monitor motion
motor mount mouse movement music name native navigation needle nest net network node noise note notebook notice notification number object
offer office offset opening operation operator option orbit order organ organisation origin outlet output overlay owner pack package packet page
pair palette panel panic paper parameter parent park parking part partition partner party pass passage passenger password patch path patient
pattern pause payload payment peak peer pen people performance period permission person phase phone photo picture piece pin ping pipe pipeline
pit pitch place plan plane planner plant plate platform play player plot plug plugin pod point pointer policy poll pool port portal portfolio
portion position post poster pot pound power practice prediction premium preparation prescription presence presentation press pressure price
print printer priority privacy probe procedure process processor product profile program progress project projection promise promotion prompt
proof property protection protocol provider proxy pulse pump purchase push quality quarter query question queue quiz quota quote race rack radar
radio rail ram range rank ranking rate rating ratio reach reaction reader reading receipt receiver reception recipe record recording recovery
reference reflection refresh region register registration registry relation relay release remote render rent repair replay replica reply report
repository request reservation reserve reset resolution resource response rest restore result resume return revenue review reward ring risk river
road robot rocket role roll room root rotation round route router routine row rule runner safe sale salt sample sandbox satellite scale scan
scanner scene schedule scheduler schema school scope score screen script scroll seal search season seat second secret section sector seed segment
selection selector sensor sequence series server service session set setting shader shadow shape shard share sheet shelf shell shield shift ship
shop shot shoulder show side sign signal signature site size skeleton skill skin slave sleep slice slide slot snapshot socket solution sort sound
source space span spark speaker speed spell spike spin spine split spot spring sprint square stack staff stage stamp stand standard star state
statement station statistics status step stick stock stop storage store storm story strategy stream street stress strike string strip structure
student studio style subject submission subscription suit suite summary supply support surface survey swap sweep swing switch symbol sync syntax
system tab table tablet tag tail tank tap tape target task tax team technique template tenant term terminal test text texture theme theory thread
threshold throttle ticket tide tie tier tile time timeline timer tip title toggle token tone tool tooltip topic torch total touch tour tower trace
track tracker tracking trade traffic trail trailer train trainer training transaction transfer transform transition translation transmission
transport trap tray treatment tree trend trial trigger trip truck trunk trust tube tunnel turn twin type unit update upgrade upload user value
valve variable variant vector vehicle vendor version vessel view viewer visit volume voucher wall warehouse warning waste watch water wave way
web wheel widget width window wing wire wizard word work worker workflow workspace wrapper yard year zone`;

let uses: ReadonlySet<string> | undefined;

/** `key`: the stem of a word. */
export function hasManyUses(key: string): boolean {
  uses ??= new Set(MANY_USES.split(/\s+/).map(stem));
  return uses.has(key);
}
