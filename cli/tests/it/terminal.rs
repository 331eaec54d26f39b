//! A real terminal: the binary on one side of a pseudo terminal, the test typing on the other.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::OpenptFlags;

use crate::harness::{PATIENCE, code, wait_until};

/// A process at a terminal.
#[derive(Debug)]
pub(crate) struct Terminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Terminal {
    /// Starts a command with its three streams at a terminal of its own.
    pub(crate) fn start(command: &mut Command) -> Self {
        let master = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        rustix::pty::grantpt(&master).unwrap();
        rustix::pty::unlockpt(&master).unwrap();
        let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let end = File::from(rustix::fs::open(&*name, flags, Mode::empty()).unwrap());
        let stream = || Stdio::from(end.try_clone().unwrap());
        let child = command
            .stdin(stream())
            .stdout(stream())
            .stderr(stream())
            .spawn()
            .unwrap();
        // The command keeps copies of the terminal's end, which would hold it open.
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let keyboard = File::from(master);
        let screen = Arc::new(Mutex::new(Vec::new()));
        watch(keyboard.try_clone().unwrap(), Arc::clone(&screen));
        Self {
            child,
            keyboard,
            screen,
        }
    }

    /// Returns what was shown so far, with plain line ends.
    pub(crate) fn screen(&self) -> String {
        let shown = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&shown).replace("\r\n", "\n")
    }

    /// Types.
    pub(crate) fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }

    /// Waits until something was shown so many times.
    #[track_caller]
    pub(crate) fn sees_times(&self, text: &str, times: usize) {
        let start = Instant::now();
        while self.screen().matches(text).count() < times {
            let screen = self.screen();
            assert!(start.elapsed() < PATIENCE, "no `{text}` in:\n{screen}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Waits until something was shown.
    #[track_caller]
    pub(crate) fn sees(&self, text: &str) {
        self.sees_times(text, 1);
    }

    /// Sends a signal, as the terminal's driver does for Ctrl-C.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Tells whether the process still runs.
    pub(crate) fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// Waits for the end of the process; returns its exit code and all that was shown.
    #[track_caller]
    pub(crate) fn end(mut self) -> (i32, String) {
        let start = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            let screen = self.screen();
            assert!(start.elapsed() < PATIENCE, "still running:\n{screen}");
            std::thread::sleep(Duration::from_millis(5));
        };
        // What was written last may still be on its way through the terminal.
        let screen = Arc::clone(&self.screen);
        wait_until("the end of what is shown", || {
            Arc::strong_count(&screen) == 2
        });
        (code(status), self.screen())
    }
}

/// Collects what is shown until the terminal is gone.
fn watch(mut terminal: File, screen: Arc<Mutex<Vec<u8>>>) {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(length @ 1..) = terminal.read(&mut buffer) {
            let mut screen = screen.lock().unwrap_or_else(PoisonError::into_inner);
            screen.extend_from_slice(&buffer[..length]);
        }
    });
}
