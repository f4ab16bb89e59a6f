//! The codes of all problems.

use std::fmt;
use std::sync::OnceLock;

use serde::Serialize;

/// What kind of problem it is, whatever the words: a stable name, in kebab case in all outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// Advice is asked for an agent whose settings are not known.
    AgentUnknown,
    /// No recorded session tells which agent is meant.
    AgentUnrecognised,
    /// A number of an ageing load is out of its range.
    AgingRange,
    /// An ageing load has no source of sessions, or several.
    AgingSource,
    /// The answer of a question is not what the facts say.
    AnswerWrong,
    /// The text that a policy gives to its agent cannot be read.
    ApplyBroken,
    /// A load asks for facts that it does not plant.
    AsksNothing,
    /// Two banks differ only in the case of their letters.
    BankCase,
    /// Two banks of a memory have one name.
    BankDuplicate,
    /// The name of a bank cannot be the name of a file.
    BankName,
    /// A fact goes to a bank that the store does not have.
    BankUnknown,
    /// A memory has no banks.
    BanksEmpty,
    /// A memory has more banks than can be told apart.
    BanksTooMany,
    /// A policy is, over several steps, its own base, or has too many of them.
    BaseCircle,
    /// A bend of refetching is not from -1 to 1.
    BendOutOfRange,
    /// A block trace has blocks of another size than the profile.
    BlockSize,
    /// Blocks of a cache have no tokens.
    BlockSizeMissing,
    /// Blocks of a trace have no tokens.
    BlockSizeZero,
    /// A block trace has no requests.
    BlockTraceEmpty,
    /// Cache rules cannot replay a block trace.
    BlockTraceRules,
    /// A file is not a block trace of a known format.
    BlockTraceUnknown,
    /// A habit's value gives no break-even point.
    BreakEvenValue,
    /// A breakpoint has no place.
    BreakpointNowhere,
    /// A token budget is spent in an order other than the oldest first.
    BudgetOrder,
    /// A token budget resets at a moment that it does not know.
    BudgetPerUnknown,
    /// A field of a cache has no effect beside another.
    CacheFieldUnused,
    /// Cache rules have the form from before each had its own fields.
    CacheRulesOld,
    /// A cap of a document is out of its range.
    CapRange,
    /// A store has no room.
    CapacityZero,
    /// A conversation has no categories of facts.
    CategoriesEmpty,
    /// A category of facts has no keys.
    CategoryEmpty,
    /// A token has no characters.
    CharsPerTokenZero,
    TurnsRatioRange,
    /// A turn has no request of the number from which on something changes.
    ChangeRequest,
    /// These results have no such chart.
    ChartMissing,
    /// A file of chats has no questions.
    ChatsEmpty,
    /// No session of a chat answers its question.
    ChatsEvidence,
    /// A file of chats is not the JSON that it should be.
    ChatsJson,
    /// A number of chats is out of its range.
    ChatsRange,
    /// A question of a chat has no sessions.
    ChatsSessions,
    /// A question of a chat is of an unknown type.
    ChatsType,
    /// A policy has both code and stages.
    CodeWithStages,
    /// No table has such a column.
    ColumnUnknown,
    /// A condition has no comparison, or several.
    ComparisonNotOne,
    /// A memory has a controller that controls nothing.
    ControllerUnused,
    /// There is no such conversation or trial.
    ConversationUnknown,
    /// A cycle of turns has no length.
    CycleEmpty,
    /// A date is not written as one.
    DateFormat,
    /// A fact is of a domain that the graph does not have.
    DomainUnknown,
    /// A domain is not one word.
    DomainWords,
    /// A conversation has no domains.
    DomainsEmpty,
    /// A field is set twice in one place.
    DuplicateKey,
    /// Content that changes has no tokens.
    DynamicEmpty,
    /// Content that is never cached is said to change.
    DynamicTailChanges,
    /// An event is at a session that there is not.
    EventSession,
    /// A unit after which something recurs is not counted.
    EveryNotCounted,
    /// It is not clear which request to explain.
    ExplainWhat,
    /// A draw of extraction has no probability, or two.
    ExtractBar,
    /// A number of extracting passes does not fit.
    ExtractPasses,
    /// Extraction draws more often than it may.
    ExtractTooMany,
    /// Versions of a fact replace each other.
    FactCircle,
    /// A fact is changed that no longer holds.
    FactInvalidated,
    /// A fact says nothing, or is of several kinds.
    FactNotOne,
    /// A fact is used before it is introduced.
    FactOrder,
    /// A fact is changed that has a newer version.
    FactReplaced,
    /// Something needs a fact that nothing plants.
    FactUnknown,
    /// What fades does so over no requests.
    FadeZero,
    /// Two figures of a suite have one name.
    FigureDuplicate,
    /// A figure is compared in two ways.
    FigureTwice,
    /// A file cannot be read or written.
    File,
    /// A file's format does not fit what is asked.
    FileFormat,
    /// A file is of another kind than the command takes.
    FileKind,
    /// A fold works on something other than one turn at a time.
    FoldBy,
    /// A fold does two things with one kind of item.
    FoldKindTwice,
    /// A fold does not begin with the oldest turn.
    FoldOrder,
    /// A fold quotes results of tools.
    FoldQuotesResults,
    /// A folder has no inputs.
    FolderEmpty,
    /// A file is not a forecast that `advise` saved.
    ForecastBroken,
    /// A share of items is above all of them.
    FractionAboveOne,
    /// A warning: requests start before the reply to the one before is there.
    GapBeforeReply,
    /// A generated load has no length, or one out of range.
    GenerateLength,
    /// A load built in code is of no kind that can be generated.
    GenerateUnknown,
    /// Git did not answer.
    GitFailed,
    /// A clone lacks objects of a revision.
    GitIncomplete,
    /// Git cannot be kept from starting programs.
    GitTooOld,
    /// A warning: no prompt is as small as a stage's goal.
    GoalUnreachable,
    /// A guard's bounds do not go together.
    GuardBound,
    /// A guard matches no run.
    GuardMatchesNothing,
    /// A guard names no known number, or one that it cannot compare.
    GuardMetric,
    /// A guard names a stage that the policy does not have.
    GuardStage,
    /// A published order of hashes lacks its seed.
    HashSeedMissing,
    /// A seed of hashes has no effect.
    HashSeedStray,
    /// A probability of cache hits is none.
    HitProbability,
    /// The lengths of prompts that a cache never holds are in the wrong order.
    HitsNever,
    /// An image has one edge without the other.
    ImageEdge,
    /// A number of images, or an edge of one, is out of its range.
    ImageRange,
    /// A breakpoint before all messages stands beside no implicit one.
    ImplicitLeadAlone,
    /// A file that would be made is there.
    InitExists,
    /// The ends of an interval do not surround its value.
    IntervalOrder,
    /// Several problems of inputs, as one.
    Invalid,
    /// Edits of a stage never last.
    LastsNever,
    /// A length of conversations is listed twice.
    LengthDuplicate,
    /// A conversation is too short or too long.
    LengthRange,
    /// A conversation has no lengths.
    LengthsEmpty,
    /// A limit allows nothing.
    LimitZero,
    /// A policy allows a warning that there is not.
    LintUnknown,
    /// A comparison lists nothing to play.
    ListEmpty,
    /// A load has no turns.
    LoadEmpty,
    /// A load has more items than can be played.
    LoadTooLarge,
    /// Entries of a cache are looked up nowhere.
    LookupNowhere,
    /// An automatic breakpoint falls where another has another lifetime, which the API refuses.
    MarksMixed,
    /// A breakpoint with a longer lifetime is behind one with a shorter, which the API refuses.
    MarksOrder,
    /// A layout has more breakpoints than the API takes.
    MarksTooMany,
    MemoryNeverWrites,
    /// Messages are too far apart.
    MessageSecondsRange,
    /// A least share of evidence is none.
    MinEvidence,
    /// A required field is missing.
    MissingField,
    /// No profile covers a model.
    ModelUnknown,
    /// An ageing load names no model.
    ModelsEmpty,
    /// A name is used twice.
    NameDuplicate,
    /// The name of an input has characters that cannot be seen, or that change how others are shown.
    NameCharacters,
    /// An input built in code has no name.
    NameEmpty,
    /// A name is not the file's path.
    NameNotPath,
    /// Two inputs built in code have one name.
    NameTwice,
    /// There is nothing of this name.
    NameUnknown,
    /// A need built in code is of no earlier turn.
    NeedBack,
    /// No rule that infers needs has this name.
    NeedRuleUnknown,
    /// A need's weight is not a share, from 0 to 1.
    NeedWeight,
    /// Two planted facts have one key.
    NeedleDuplicate,
    /// A planted fact has no name.
    NeedleName,
    /// A warning: even policies that keep everything keep less than what a scenario needs.
    NeedsLost,
    /// Nothing in a list fits the filter.
    NothingListed,
    /// No recorded session is left to run.
    NothingToRun,
    /// A number is out of the range of its type.
    NumberOutOfRange,
    /// A declared number is out of its range.
    NumberRange,
    /// A table of outcomes cannot be read, or is of other sessions.
    OutcomesBroken,
    /// An output would overwrite a file of someone else's.
    OutputExists,
    /// An output's extension belongs to no format.
    OutputExtension,
    /// An output cannot have this format.
    OutputFormat,
    /// An output would overwrite an input.
    OutputInput,
    /// An output would be written through a link.
    OutputLink,
    /// Two outputs would be one file.
    OutputTwice,
    /// A parameter is used as a count and is none.
    ParamNotACount,
    /// A parameter is set that no policy declares.
    ParamUndeclared,
    /// A policy uses a parameter that it does not declare.
    ParamUnknown,
    /// A parameter is set that nothing reads.
    ParamUnread,
    /// A part of a result is not as it was written.
    PartBroken,
    /// A part of a result lacks what is found on its load.
    PartFindings,
    /// Parts of results are asked for guards.
    PartGuards,
    /// A part is of another job.
    PartJob,
    /// A part of a result is missing.
    PartMissing,
    /// A part is not a share of the whole.
    PartShare,
    /// A part of a result is there twice.
    PartTwice,
    /// A part was made by another version.
    PartVersion,
    /// A name fits several files.
    PathAmbiguous,
    /// A path in memory says no kind or format.
    PathUnclear,
    /// A pause is never long enough.
    PauseNever,
    /// A stage has a pause but is not idle, or the other way round.
    PauseNotIdle,
    /// A stage keeps a cache alive at a moment other than a pause.
    PingNotIdle,
    /// A pattern has places beyond its period.
    PlacesRange,
    /// A memory runner is compared with policies of other work.
    PolicyOtherWork,
    /// A load reads nothing of what a policy sets.
    PolicyUnread,
    /// Two windows set the same price at the same time.
    PriceAmbiguous,
    /// Two price lists begin on one day.
    PriceDateDuplicate,
    /// An amount of dollars is none.
    PriceInvalid,
    /// No entry of a price list becomes a profile.
    PriceListEmpty,
    /// A file is not a price list of a known format.
    PriceListUnknown,
    /// A profile has no prices.
    PriceMissing,
    /// A timeline starts before the first price.
    PriceNotYet,
    /// A price has more decimals than are counted.
    PriceTooFine,
    /// A probability is not from 0 to 1.
    ProbabilityRange,
    /// A table of answers lacks a column.
    ProbesColumns,
    /// A table of answers has no rows.
    ProbesEmpty,
    /// A table of answers is fitted to no memory of sessions.
    ProbesMemory,
    /// A table of answers is fitted to no sessions.
    ProbesScenario,
    /// A table of answers has an unusable value.
    ProbesValue,
    /// A policy is a program and something else.
    ProcessBeside,
    /// A policy's program has no name.
    ProcessCommandEmpty,
    /// A policy's program has no time to answer.
    ProcessDeadlineZero,
    /// A policy's program answered wrongly or not at all.
    ProcessFault,
    /// A policy's program may not be started.
    ProcessNotAllowed,
    /// A policy's program belongs to no file.
    ProcessNotOnDisk,
    /// A program gets a parameter that it cannot take.
    ProcessParam,
    /// A profile covers every model.
    ProfileModels,
    /// A profile is for sessions of other models.
    ProfileUnfit,
    /// A profile has no sources.
    ProfileUnsourced,
    /// A question asks for nothing, or for several things.
    QuestionNotOne,
    /// Chats ask no questions.
    QuestionsEmpty,
    /// No best values are kept yet.
    RatchetMissing,
    /// A size is above the limit that it is a share of.
    RatioAboveOne,
    /// A memory never reads back.
    ReadNothing,
    /// A memory that is read as a whole is said to be read in parts.
    ReadWhole,
    /// A decay over time is out of its range.
    RecencyRange,
    /// A saving is asked for that is not known in advance.
    ReclaimableWithBudget,
    /// A recording has no requests.
    RecordingEmpty,
    /// A line of a recording is too long.
    RecordingLine,
    /// A scenario of no recording is asked for one.
    RecordingMissing,
    /// A recording that is read already gets assumptions.
    RecordingRead,
    /// A recording is of a format that lacks what is needed.
    RecordingRefused,
    /// A file holds several sessions where one is taken.
    RecordingSeveral,
    /// A file is not a recording of a known format.
    RecordingUnknown,
    /// A recorded count of tokens is unusable.
    RecordingUsage,
    /// A call that never fails says how to recover.
    RecoverUnused,
    /// Recovery by requests has numbers for a flat price.
    RecoveryNotFlat,
    /// A request of a block trace lacks its blocks.
    RequestIncomplete,
    /// There is no such request to explain.
    RequestOutOfRange,
    /// Recovery may read nothing again.
    RereadLimitZero,
    /// A summary restores no files.
    RestoreNothing,
    /// A revision is asked for bundled inputs.
    RevisionBundled,
    /// A suite names a revision, and may not.
    RevisionNotAllowed,
    /// A revision of a policy cannot be used.
    RevisionPolicy,
    /// A turn refers to itself.
    RevisitOfItself,
    /// These rows need a load of sessions that age.
    RowsAging,
    /// These rows need a memory that makes calls.
    RowsCalls,
    /// These rows need a conversation.
    RowsConversation,
    /// These rows need a stream of sessions.
    RowsSessions,
    /// These rows need one trial.
    RowsSeveralTrials,
    /// These rows need loads with trials.
    RowsTrials,
    /// A run of code failed.
    RunFailed,
    /// A caller stopped the runs.
    RunStopped,
    /// There is no such run in a plan.
    RunUnknown,
    /// A warning: a clear saves less than it writes again.
    SavingBelowWrite,
    /// A check could not run every session.
    ScenarioNotRun,
    /// A scope is counted in no unit.
    ScopeByNotCounted,
    /// A scope at entry names kinds that do not enter.
    ScopeEntryKinds,
    /// A scope of what enters is used at another moment.
    ScopeNotAtEntry,
    /// A scope of whole units has no units.
    ScopeWholeOfNothing,
    /// A section of a document is listed twice.
    SectionTwice,
    /// A document has no sections.
    SectionsEmpty,
    /// A call to a service writes no section.
    ServiceCall,
    /// A document has no room before it is written.
    ServiceFlush,
    /// A service's prices are neither a factor nor prices.
    ServiceForm,
    /// A document is never written.
    ServicePut,
    /// No price of a service is known.
    ServiceUnknown,
    /// A session begins too late.
    SessionAt,
    /// Two sessions have one name, or one has none.
    SessionName,
    /// A session's parent is not another session.
    SessionParent,
    /// A warning: every request of a session starts before the reply to the one before is there.
    SessionWithoutTime,
    /// A load has no sessions.
    SessionsNone,
    /// An override may be meant for several policies.
    SetAmbiguous,
    /// An override's path lacks a step.
    SetEmptyStep,
    /// An override's path leads to no field.
    SetNoSuchField,
    /// An override names a parameter that no policy declares.
    SetNoSuchParam,
    /// An override names a policy that does not run.
    SetNoSuchPolicy,
    /// An override names a profile that does not run.
    SetNoSuchProfile,
    /// An override has no value.
    SetNoValue,
    /// An override has a range of values.
    SetRange,
    /// An override's path begins with no known field.
    SetUnknownRoot,
    /// An override's value does not fit its field.
    SetValue,
    /// The text of an agent's setting cannot be filled in.
    SettingBroken,
    /// A settings file has a value that its agent does not take.
    SettingValue,
    /// A file of settings cannot be read.
    SettingsSyntax,
    /// Shards of a search do not go together.
    Shard,
    /// A share has too many digits.
    ShareDigits,
    /// A share is not above 0 and at most 1.
    ShareRange,
    /// A first day is not a date.
    SinceDay,
    /// A list of sizes is empty.
    SizeEmpty,
    /// A size is nested too deeply, or in a circle.
    SizeTooDeep,
    /// A size is beyond what is counted.
    SizeTooLarge,
    /// A spread of sizes is out of its range.
    SpreadRange,
    /// A stable prefix holds a kind of item that it cannot.
    StableKind,
    /// Two stages of a policy have one name.
    StageDuplicate,
    /// A stage has no moment.
    StageNever,
    /// A warning: two parts of a trigger exclude each other.
    StageNeverFires,
    /// A variant removes from a stage what is not there.
    StageRemove,
    /// A stage has no action.
    StageWithoutApply,
    /// A policy has too many stages.
    StagesTooMany,
    /// A step, a number or an interval of a cache is 0.
    StepZero,
    /// A store's folder is not as it was written.
    StoreDiffers,
    /// An input of a store's folder is gone.
    StoreInputMissing,
    /// A store's file is not the JSON that it should be.
    StoreJson,
    /// A fact of a store has no key.
    StoreKeyMissing,
    /// A fact of a store has a key that its bank does not take.
    StoreKeyStray,
    /// A fact of a store has no usable name.
    StoreName,
    /// A store is asked of policies without a memory.
    StoreNone,
    /// Facts of a store are out of order.
    StoreOrder,
    /// A store's file is of another version.
    StoreSchema,
    /// A policy has a summariser that it never asks.
    SummariserIdle,
    /// A summary without a request is said to be made again.
    SummaryAgainFree,
    /// A summary of each unit is said to need several.
    SummaryAtLeastOfOne,
    /// A warning: a summary has no tokens.
    SummaryEmpty,
    /// A model's summary is said to repeat the beginnings of results.
    SummaryHeadOfAModel,
    /// A summary keeps kinds that it cannot cut.
    SummaryKeeps,
    /// A warning: a summary's request finds nothing in the cache.
    SummaryMissesCache,
    /// A summary does not begin with the oldest unit.
    SummaryOrder,
    /// A summary reads where no request is made.
    SummaryReadsAll,
    /// A warning: a summary is not smaller than what it replaces.
    SummaryTooLarge,
    /// A text cannot be read.
    Syntax,
    /// A warning: a stage can take away the message that the agent is working on.
    TaskRemoved,
    /// A template cannot be filled in.
    TemplateBroken,
    /// A build leaves out the engine of templates.
    TemplatesMissing,
    /// A threshold of a memory is out of its range.
    ThresholdRange,
    /// Two price tiers begin at one length.
    TierDuplicate,
    /// Price tiers reach differently far.
    TierMixed,
    /// A price tier has no length at which it begins.
    TierThreshold,
    /// A pattern is repeated no times.
    TimesZero,
    /// This build counts no tokens.
    TokenizerNotBuilt,
    /// No family of models has this tokenizer.
    TokenizerUnknown,
    /// A call has no tool.
    ToolUnnamed,
    /// A load has more tools than can be told apart.
    ToolsTooMany,
    /// A number of trials is out of its range.
    TrialsRange,
    /// Trials are set for a load that has none.
    TrialsUnused,
    /// A warning: a trigger is beyond the window.
    TriggerBeyondWindow,
    /// A warning: a trigger is its own goal.
    TriggerIsTarget,
    /// Prices of writes name no lifetime, or two of one class.
    TtlClass,
    /// Two lifetimes of a cache are of one class.
    TtlClassTwice,
    /// Stored content has no lifetime.
    TtlMissing,
    /// Cache rules of one lifetime have several.
    TtlSeveral,
    /// A search varies loads.
    TuneLoads,
    /// A search varies nothing of the policies.
    TuneParams,
    /// A scenario built in code has no turn.
    TurnsMissing,
    /// A number has no unit.
    UnitMissing,
    /// Cache rules of units leave none.
    UnitsNowhere,
    /// There is no such choice.
    UnknownChoice,
    /// There is no such field.
    UnknownField,
    /// There is no input of this name.
    UnknownName,
    /// A result cannot be written in a format.
    Unwritable,
    /// A command line does not say what to do.
    Usage,
    /// A load has no messages of users that a need could be of.
    UserMessagesUnused,
    /// Values have too many decimals.
    ValueDecimals,
    /// A value does not pass its field's own check.
    ValueInvalid,
    /// There are no values to draw from.
    ValueNone,
    /// A range of values is empty.
    ValueRange,
    /// A grid has too many points.
    VaryTooMany,
    /// A path is varied twice.
    VaryTwice,
    /// A path is varied over no values.
    VaryValues,
    /// A warning: what changes stands in front of the prompt.
    VolatileFront,
    /// A wait between turns is too long.
    WaitTooLong,
    /// A weight is not a share, from 0 to 1.
    WeightInvalid,
    /// A price window has neither a factor nor prices.
    WindowForm,
    /// Hours of a price window are not written as hours.
    WindowHours,
    /// A warning: a window moves by single units.
    WindowOfSingleUnits,
    /// A price window has tiers.
    WindowTiers,
    /// A build leaves out the world of a load.
    WorldMissing,
    /// A value is of another type than its field.
    WrongType,
}

impl Code {
    pub fn name(self) -> &'static str {
        const N_CODES: usize = Code::WrongType as usize + 1;
        static NAMES: [OnceLock<String>; N_CODES] = [const { OnceLock::new() }; N_CODES];
        NAMES[self as usize].get_or_init(|| self.to_string())
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
