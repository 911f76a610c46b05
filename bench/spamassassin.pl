# Prints the score of SpamAssassin's Bayes for each message file: CONF < paths. `spamassassin` prints four
# digits of it, so that most spam would share one; this prints all.
use Mail::SpamAssassin;
my $conf = shift;
my $filter = Mail::SpamAssassin->new({
    rules_filename => $conf, site_rules_filename => $conf, userprefs_filename => "$conf/prefs",
    local_tests_only => 1, dont_copy_prefs => 1 });
$filter->init(0);
while (my $path = <STDIN>) {
    chomp $path;
    open my $file, '<:raw', $path or die "$path: $!";
    local $/;
    my $mail = $filter->parse(scalar <$file>, 1);
    my $status = $filter->check($mail);
    printf "%.17g\n", $status->{bayes_score} // 0.5;
    $status->finish;
    $mail->finish;
}
