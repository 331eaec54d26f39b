//! Being told in which folders something happened, instead of looking at every file.
//!
//! A look at a file costs nearly as much as reading a small one, so a process that asks again and
//! again has the kernel (Linux, inotify) keep count. Nothing depends on it: where the system cannot
//! tell, or not for certain, files are looked at.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

/// How many folders and files are watched at most: a user's watches are shared by all programs.
const MOST_WATCHED: usize = 16_384;

/// A watch over files and their folders.
#[derive(Debug)]
pub(crate) struct Watch {
    queue: system::Queue,
    /// The files that each watched folder or file is about.
    files: HashMap<system::Id, HashSet<Arc<Path>>>,
    covered: HashSet<Arc<Path>>,
}

/// What happened since the last question.
#[derive(Debug)]
pub(crate) struct Happened {
    /// Something may have happened to these files, whatever their stamps say.
    pub(crate) touched: HashSet<Arc<Path>>,
    /// Events were lost.
    pub(crate) lost: bool,
}

impl Watch {
    /// Returns a watch for files below `root`; nothing where the system has none.
    pub(crate) fn below(root: &Path) -> Option<Self> {
        Some(Self {
            queue: system::Queue::open(root)?,
            files: HashMap::new(),
            covered: HashSet::new(),
        })
    }

    /// Watches the file at `path`, if the bound and the system allow it.
    ///
    /// What happens from now on is told, so the file has to be looked at after this.
    pub(crate) fn add(&mut self, path: &Path) {
        let Some(folder) = path.parent().filter(|_| self.files.len() < MOST_WATCHED) else {
            return;
        };
        // The folder tells of what comes beside the file, the file of changes by another name.
        if let (Some(folder), Some(file)) = (self.queue.add(folder), self.queue.add(path)) {
            let path: Arc<Path> = path.into();
            for id in [folder, file] {
                let about = self.files.entry(id).or_default();
                about.insert(Arc::clone(&path));
            }
            self.covered.insert(path);
        }
    }

    /// Tells whether it would be told if the file at `path` changed.
    pub(crate) fn covers(&self, path: &Path) -> bool {
        self.covered.contains(path)
    }

    /// Returns what happened since the last call.
    pub(crate) fn ask(&mut self) -> Happened {
        let mut touched = HashSet::new();
        let mut ended = Vec::new();
        let lost = self.queue.drain(&mut |event| {
            for file in self.files.get(&event.id).into_iter().flatten() {
                // What comes or goes beside a file can matter to it as well.
                let named = event.name.is_none_or(|name| file.file_name() == Some(name));
                if named || event.comes_or_goes {
                    touched.insert(Arc::clone(file));
                }
            }
            if event.ends {
                ended.push(event.id);
            }
        });
        ended.into_iter().for_each(|id| self.end(id));
        Happened { touched, lost }
    }

    /// Forgets a folder or file that is not what its path leads to any more.
    fn end(&mut self, id: system::Id) {
        self.queue.remove(id);
        for file in self.files.remove(&id).into_iter().flatten() {
            self.covered.remove(&file);
        }
    }
}

/// Something that happened in a watched folder.
#[derive(Debug)]
struct Event<'a> {
    id: system::Id,
    /// The name of what it happened to; none for what is watched itself.
    name: Option<&'a OsStr>,
    /// Something came into the folder or went.
    comes_or_goes: bool,
    /// What is watched was moved or removed.
    ends: bool,
}

#[cfg(target_os = "linux")]
mod system {
    use std::ffi::OsStr;
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;

    use super::Event;

    pub(super) type Id = i32;

    /// File systems that no other machine changes: ext, XFS, Btrfs, tmpfs, F2FS, bcachefs, ZFS.
    const LOCAL: &[u64] = &[
        0xef53,
        0x5846_5342,
        0x9123_683e,
        0x0102_1994,
        0xf2f5_2010,
        0xca45_1a4e,
        0x2fc1_2fc1,
    ];

    const COMES_OR_GOES: ReadFlags = ReadFlags::CREATE
        .union(ReadFlags::DELETE)
        .union(ReadFlags::MOVED_FROM)
        .union(ReadFlags::MOVED_TO);

    const ENDS: ReadFlags = ReadFlags::IGNORED
        .union(ReadFlags::MOVE_SELF)
        .union(ReadFlags::DELETE_SELF);

    /// How many bytes of events are taken at once.
    const ROOM: usize = 16 * 1024;

    #[derive(Debug)]
    pub(super) struct Queue(OwnedFd);

    impl Queue {
        /// Returns a queue for folders below `root`, if changes there pass through this kernel.
        pub(super) fn open(root: &Path) -> Option<Self> {
            let kind = u64::try_from(rustix::fs::statfs(root).ok()?.f_type).ok()?;
            LOCAL.contains(&kind).then_some(())?;
            let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC);
            queue.ok().map(Self)
        }

        pub(super) fn add(&self, path: &Path) -> Option<Id> {
            let changes = WatchFlags::MODIFY
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::ATTRIB
                | WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MOVE
                | WatchFlags::DELETE_SELF
                | WatchFlags::MOVE_SELF
                | WatchFlags::DONT_FOLLOW;
            inotify::add_watch(&self.0, path, changes).ok()
        }

        pub(super) fn remove(&self, id: Id) {
            // One that the kernel has ended itself is gone already.
            inotify::remove_watch(&self.0, id).ok();
        }

        /// Hands over what happened; tells whether some of it was lost.
        pub(super) fn drain(&self, take: &mut dyn FnMut(&Event<'_>)) -> bool {
            let mut room = vec![MaybeUninit::uninit(); ROOM];
            let mut reader = Reader::new(&self.0, &mut room);
            let mut lost = false;
            loop {
                let event = match reader.next() {
                    Ok(event) => event,
                    Err(Errno::AGAIN) => return lost,
                    Err(Errno::INTR) => continue,
                    Err(_) => return true,
                };
                let flags = event.events();
                lost |= flags.contains(ReadFlags::QUEUE_OVERFLOW);
                let name = event.file_name();
                take(&Event {
                    id: event.wd(),
                    name: name.map(|name| OsStr::from_bytes(name.to_bytes())),
                    comes_or_goes: flags.intersects(COMES_OR_GOES),
                    ends: flags.intersects(ENDS),
                });
            }
        }
    }
}

/// Elsewhere files are looked at.
#[cfg(not(target_os = "linux"))]
mod system {
    use std::path::Path;

    use super::Event;

    pub(super) type Id = u32;

    #[derive(Debug)]
    pub(super) enum Queue {}

    impl Queue {
        pub(super) fn open(_root: &Path) -> Option<Self> {
            None
        }

        pub(super) fn add(&self, _folder: &Path) -> Option<Id> {
            match *self {}
        }

        pub(super) fn remove(&self, _id: Id) {
            match *self {}
        }

        pub(super) fn drain(&self, _take: &mut dyn FnMut(&Event<'_>)) -> bool {
            match *self {}
        }
    }
}
