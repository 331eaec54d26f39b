//! Words that say nothing about what a text is about, or little.

/// English words that are never compared.
pub(super) const STOP_WORDS: &[&str] = &[
    "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "ask", "asked", "asks",
    "at", "be", "been", "before", "but", "by", "can", "could", "did", "do", "does", "don", "done",
    "each", "for", "from", "had", "has", "have", "he", "hello", "help", "her", "here", "hi", "him",
    "his", "how", "if", "in", "into", "is", "it", "its", "just", "let", "like", "may", "me",
    "more", "my", "need", "needs", "no", "not", "now", "of", "on", "one", "or", "other", "our",
    "out", "over", "please", "she", "should", "skill", "skills", "so", "some", "such", "task",
    "tasks", "than", "thank", "thanks", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "to", "up", "us", "use", "used", "user", "users", "uses", "using",
    "via", "want", "wants", "was", "we", "were", "what", "when", "whenever", "where", "which",
    "while", "who", "why", "will", "with", "within", "would", "you", "your",
];

/// Stems and pairs that many skills share: alone they are no reason to take one.
pub(super) const WEAK_TERMS: &[&str] = &[
    "build", "chang", "content", "creat", "document", "file", "find", "generat", "get", "giv",
    "handl", "mak", "new", "project", "provid", "run", "show", "support", "tell", "text", "work",
    "writ", "write", "make", "give", "md", "txt", "生成", "创建", "编写", "处理", "文件", "内容",
    "文档", "支持", "提供", "工作", "写作", "项目",
];

/// CJK characters that only join others; a pair with one of them is no term.
pub(super) const STOP_CHARACTERS: &str =
    "的了我你您他她它们是在和与或把被给请帮一个份这那吗呢吧啊就都也很于及";

/// Pairs that only say that somebody wants something.
pub(super) const STOP_PAIRS: &[&str] = &[
    "用户", "使用", "需要", "要求", "可以", "户要", "户需", "时使", "当用", "时候", "什么", "怎么",
    "如何",
];
